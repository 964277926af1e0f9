"""Rule 1 of replay records: what is refused, and what the refusal carries."""

from dataclasses import replace
from typing import Any

import pytest

from parking.consumer.errors import Poison
from parking.fingerprint import fingerprint
from parking.record import Record
from parking.wire import Announcement, Command, names
from tests.parking.consumer.service import FLOW, Log, Service, command, sent, source

SECRET = b"a secret of the flow"


@pytest.fixture
def parked(service: Service, log: Log) -> Announcement:
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0))
    service.fails.clear()
    return log.announcements[0]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"flow": "another"}, "flow: expected 'disputes', arrived 'another'"),
        ({"hold_key": b"other"}, "hold key: not what the key rule"),
        ({"hold_key": b"k", "key": None}, "hold key: not what the key rule"),
        ({"value": b"forged"}, "fingerprint: not that of the record"),
        ({"headers": ()}, "fingerprint: not that of the record"),
        ({"action": names.HOLD, "position": 5, "value": b"forged"}, "fingerprint: not that of the record"),
        ({"action": names.HOLD, "position": 5, "hold_key": b"other"}, "hold key: not what the key rule"),
        ({"action": names.HOLD, "position": 5, "kind": "odd"}, "kind: expected poison or held"),
        ({"action": names.HOLD, "position": 2**63 - 1, "kind": "held"}, "position: expected a number up to"),
        ({"action": names.HOLD, "position": 5, "attempt_number": 2**31}, "attempt number: expected at most"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(
    service: Service, log: Log, parked: Announcement, changes: dict[str, Any], reason: str
) -> None:
    asked = command(**{"action": names.APPLY, **changes}, parked=parked, token=10)
    service.take(asked)
    answer = log.outcome
    assert answer.outcome == "refused"
    assert reason in (answer.reason or "")
    assert (answer.flow, answer.token, answer.replay_id, answer.event_id) == ("disputes", 10, "replay", "e1")
    assert answer.hold_key == asked.key
    assert service.effects == []
    service.apply(parked, 10)
    assert log.said[-1] == "applied e1", "a refusal changes nothing"


@pytest.mark.parametrize(
    "record",
    [
        Record("r", 0, 7, 5, b"k", b"no block at all", ()),
        Record("r", 0, 7, 5, b"k", None, (("siding-version", b"2"),)),
        Record(
            "r",
            0,
            7,
            5,
            b"k",
            None,
            (("siding-version", b"1"), ("siding-action", b"explode"), ("siding-flow", b"disputes")),
        ),
        Record(
            "r",
            0,
            7,
            5,
            None,
            None,
            (
                ("siding-version", b"1"),
                ("siding-action", b"release"),
                ("siding-flow", b"disputes"),
                ("siding-token", b"10"),
            ),
        ),
        Record(
            "r",
            0,
            7,
            5,
            b"k",
            None,
            (
                ("siding-version", b"1"),
                ("siding-action", b"release"),
                ("siding-flow", b"disputes"),
                ("siding-token", b"9" * 400),
            ),
        ),
        Record(
            "r",
            0,
            7,
            5,
            b"k",
            None,
            (
                ("siding-version", b"1"),
                ("siding-action", b"release"),
                ("siding-flow", b"disputes"),
                ("siding-token", b"0"),
            ),
        ),
        Record(
            "r",
            0,
            7,
            5,
            b"k",
            None,
            (
                ("siding-version", b"1"),
                ("siding-action", b"skip"),
                ("siding-flow", b"disputes"),
                ("siding-token", b"10"),
                ("siding-event-id", b"\xff"),
            ),
        ),
        Record(
            "r",
            0,
            7,
            5,
            b"k",
            None,
            (
                ("siding-version", b"1"),
                ("siding-action", b"skip"),
                ("siding-flow", b"disputes"),
                ("siding-token", b"10"),
                ("siding-event-id", b"e1"),
            ),
        ),
    ],
)
def test_what_cannot_be_read_is_answered_under_the_own_flow_with_an_empty_key(
    service: Service, log: Log, parked: Announcement, record: Record
) -> None:
    service.take(record)
    answer = log.outcome
    assert (answer.outcome, answer.flow, answer.hold_key, answer.token, answer.replay_id) == (
        "refused",
        "disputes",
        b"",
        None,
        None,
    )
    assert "r/0/7@5" in (answer.reason or "")
    service.apply(parked, 10)
    assert log.said[-1] == "applied e1"


@pytest.mark.parametrize("token", [2**62 + 1, 2**63 - 1])
def test_a_token_that_leaves_no_room_for_a_floor_is_refused(
    service: Service, log: Log, parked: Announcement, token: int
) -> None:
    service.fails[b"e1"] = Poison("no")
    service.apply(parked, token)
    assert log.outcome.outcome == "refused"
    service.apply(parked, 2**62)
    assert (log.outcome.outcome, log.outcome.floor) == ("failed", 2**62 + 1)


def test_without_the_signature_of_the_flow_nothing_is_obeyed_or_stopped(make_service, log: Log) -> None:
    service = make_service(replace(FLOW, secret=SECRET))
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0))
    service.fails.clear()
    parked = log.announcements[0]
    forged = Command(names.RELEASE, "disputes", b"k", 10, "replay")
    for record in (command(names.APPLY, parked, 10), sent(forged), sent(forged, b"another secret")):
        service.take(record)
        answer = log.outcome
        assert (answer.outcome, answer.token, answer.replay_id) == ("refused", None, None)
        assert "signature" in (answer.reason or "")
    service.take(_signed(parked, 10))
    service.take(sent(forged, SECRET))
    assert log.said[-2:] == ["applied e1", "released"]


@pytest.mark.parametrize(
    "header",
    [
        names.FLOW,
        names.EVENT_ID,
        names.ACTION,
        names.TOKEN,
        names.SOURCE_TOPIC,
        names.SOURCE_PARTITION,
        names.SOURCE_OFFSET,
        names.SOURCE_TIMESTAMP,
        names.FINGERPRINT,
    ],
)
def test_each_signed_field_counts(make_service, log: Log, header: str) -> None:
    service = make_service(replace(FLOW, secret=SECRET))
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0))
    service.fails.clear()
    record = _signed(log.announcements[0], 10)
    changed = tuple((name, (value or b"") + b"1" if name == header else value) for name, value in record.headers)
    service.take(replace(record, headers=changed))
    assert (log.outcome.outcome, log.outcome.token) == ("refused", None)


def test_the_signature_covers_the_bytes_through_the_fingerprint(make_service, log: Log) -> None:
    service = make_service(replace(FLOW, secret=SECRET))
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0))
    service.fails.clear()
    service.take(replace(_signed(log.announcements[0], 10), value=b"other bytes"))
    assert log.outcome.outcome == "refused"
    assert service.effects == []


def test_the_original_key_travels_beside_the_hold_key(make_service, log: Log) -> None:
    """An Avro key: the hold key is what follows the schema id; the handler gets the key as it was."""
    service = make_service(replace(FLOW, key_rule="prefix"))
    key = b"\x00\x00\x00\x00\x05acct-42"
    service.fails[b"e1"] = Poison("no")
    service.take(source("e1", 0, key=key), source("e2", 1, key=b"\x00\x00\x00\x00\x09acct-42"))
    service.fails.clear()
    assert log.said == ["poison e1", "held e2"]
    service.take(command(names.APPLY, log.announcements[0], 10, hold_key=b"acct-42"))
    assert log.said[-1] == "applied e1"
    assert service.seen[-1].key == key
    service.take(
        command(names.APPLY, log.announcements[1], 10, hold_key=b"acct-42", fingerprint=fingerprint(None, None, ()))
    )
    assert log.said[-1] == "refused e2"


def _signed(parked: Announcement, token: int) -> Record:
    asked = Command(
        names.APPLY, "disputes", b"k", token, "replay", parked.event_id, parked.key, parked.value, parked.headers,
        parked.source, parked.fingerprint,
    )  # fmt: skip
    return sent(asked, SECRET)
