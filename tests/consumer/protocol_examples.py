"""One record of each kind of the protocol. `python -m tests.consumer.protocol_examples` writes them into docs/."""

import json
from pathlib import Path
from typing import Any

from parking import wire
from parking.attempt import Attempt, ValidationError
from parking.coordinates import Coordinates
from parking.fingerprint import fingerprint
from parking.record import Headers, Record, to_json_line
from parking.wire import Announcement, Command, Outcome, StillHeld, Wire

FILE = Path(__file__).parents[2] / "docs/protocol-examples.jsonl"
SECRET = b"example"
AT = 1_796_040_000_000
KEY, VALUE = b"acc-1", b'{"amount": -3}'
HEADERS: Headers = (("event-id", b"evt-1"), ("tag", b"a"), ("tag", b"b"), ("note", None))
SOURCE, NEXT = Coordinates("orders", 3, 1042, AT), Coordinates("orders", 3, 1043, AT + 1)
DIGEST = fingerprint(KEY, VALUE, HEADERS)
MENDED = b'{"amount": 3}'
WRONG = ValidationError("/amount", "a number above 0", "-3", "send minor units")
TRY = Attempt(1, AT + 5, "InvalidAmount", "the amount is negative", "Traceback …", (WRONG,), retryable=False)
Fields = dict[str, Any]
COMMON: Fields = {"flow": "orders", "hold_key": KEY, "consumer_group": "order-service"}


def announced() -> dict[str, Wire]:
    poison = Announcement(
        "poison",
        "orders",
        "evt-1",
        0,
        DIGEST,
        SOURCE,
        KEY,
        VALUE,
        HEADERS,
        "order-service",
        (TRY,),
        evidence={"model": "m-1"},
    )
    headers: Headers = (("event-id", b"evt-2"),)
    held = Announcement(
        "held", "orders", "evt-2", 1, fingerprint(KEY, None, headers), NEXT, KEY, None, headers, "order-service",
        blocked_by="evt-1",
    )  # fmt: skip
    return {
        "poison": wire.announcement.encode(poison),
        "held, a tombstone": wire.announcement.encode(held),
        "pointer": wire.announcement.as_pointer(wire.announcement.encode(poison)),
    }


def commands() -> dict[str, Wire]:
    event: Fields = {
        "flow": "orders",
        "hold_key": KEY,
        "replay_id": "17",
        "event_id": "evt-1",
        "key": KEY,
        "headers": HEADERS,
    }
    mended: Fields = {"value": MENDED, "fingerprint": fingerprint(KEY, MENDED, HEADERS), "source": SOURCE}
    found = {
        "apply, amended": Command("apply", token=9, **{**event, **mended}),
        "skip": Command("skip", token=9, **event, source=SOURCE, fingerprint=DIGEST),
        "release": Command("release", "orders", KEY, 9, "17"),
        "hold": Command(
            "hold", token=9, **event, value=VALUE, source=SOURCE, fingerprint=DIGEST, position=0, kind="poison",
            attempt_number=1,
        ),
        "apply, the original key is null": Command(
            "apply", token=9, **{**event, **mended, "hold_key": b"evt-1", "key": None,
                                 "fingerprint": fingerprint(None, MENDED, HEADERS)},
        ),
    }  # fmt: skip
    return {name: wire.command.encode(command, SECRET) for name, command in found.items()}


def outcomes() -> dict[str, Wire]:
    of_event: Fields = {
        **COMMON,
        "event_id": "evt-1",
        "position": 0,
        "token": 9,
        "replay_id": "17",
        "source": SOURCE,
        "floor": 9,
    }
    of_key: Fields = {**COMMON, "token": 9, "replay_id": "17", "floor": 9}
    fact: Fields = {"fingerprint": fingerprint(KEY, MENDED, HEADERS), "fate_token": 9}
    later = Attempt(2, AT + 9, "InvalidAmount", "the amount is negative", retryable=False)
    found = {
        "applied": Outcome("applied", **of_event, **fact),
        "skipped": Outcome("skipped", **of_event, fingerprint=DIGEST, fate_token=9),
        "failed": Outcome("failed", **{**of_event, "floor": 10}, attempts=(later,)),
        "fenced": Outcome("fenced", **{**of_event, "floor": 12}),
        "not-held": Outcome("not-held", **{**of_event, "position": None}),
        "out-of-order": Outcome("out-of-order", **of_event, first_held="evt-0"),
        "held": Outcome("held", **of_event),
        "refused, forged": Outcome("refused", **COMMON, reason="wrong or missing signature on orders.replay/0/7"),
        "released": Outcome("released", **{**of_key, "floor": 10}, position=2),
        "still-held": Outcome("still-held", **of_key, held_count=1, still_held=(StillHeld("evt-2", 1, "held", NEXT),)),
    }
    return {name: wire.outcome.encode(outcome) for name, outcome in found.items()}


def lines() -> list[str]:
    """The file's lines."""
    found = {"orders.parking": {**announced(), **outcomes()}, "orders.replay": commands()}
    return [
        json.dumps({"is": name, **json.loads(to_json_line(Record(topic, 0, offset, AT, *one)))})
        for topic, records in found.items()
        for offset, (name, one) in enumerate(records.items())
    ]


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n")
