"""Cases of the flow `disputes`, whose consumer has the gate: announcements and answers in the wire format. Pure."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

from console.demo.disputes.events import write
from console.demo.disputes.stories import Message, Sender
from console.demo.disputes.validation import decision_faults, event_faults
from console.demo.life.arrivals import Parked, milliseconds
from console.demo.life.cases import Case, Event, Remedy
from parking import partitioner
from parking.attempt import Attempt, ValidationError
from parking.coordinates import Coordinates
from parking.fingerprint import fingerprint
from parking.record import Headers
from parking.wire import Announcement, Outcome, announcement, outcome

FLOW, GROUP, SOURCE_PARTITIONS = "disputes", "disputes-service", 3
BEHIND = ("EvidenceAdded", "EvidenceAdded", "RefundRequested", "LimitChanged")
EVIDENCE = {"model": "m-4.1", "prompt": "p-112", "policy": "2026-11"}
Trouble = tuple[Message, tuple[Attempt, ...], Remedy]


class Disputes:
    """Makes cases; the same random numbers make the same ones."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._sender = Sender(seed=random.getrandbits(60))
        self._offsets = [40_000, 40_000, 40_000]
        self._account = 30_000

    def case(self, at: datetime, *, behind: int, trouble: "Make | None" = None) -> Case:
        """A poison event at `at`, and so many events of its key held behind it within the next hour."""
        self._account += 1
        case = Case(FLOW, b"acc-%d" % self._account)
        self.fail(case, at, trouble or self._random.choice(TROUBLES))
        for _ in range(behind):
            at += timedelta(seconds=self._random.uniform(20, 3000 / behind))
            self.hold(case, at, self._random.choice(BEHIND))
        return case

    def fail(self, case: Case, at: datetime, trouble: "Make") -> None:
        """Another poison event of the key."""
        message, tries, remedy = trouble(self._sender, case.key.decode(), milliseconds(at))
        self._add(case, at, message, tries)
        case.remedies[message.event_id] = remedy

    def hold(self, case: Case, at: datetime, event_type: str) -> None:
        """Another event of the key, held behind those before it."""
        self._add(case, at, self._sender.event(event_type, case.key.decode()))

    def _add(self, case: Case, at: datetime, message: Message, tries: tuple[Attempt, ...] = ()) -> None:
        number = partitioner.partition(case.key, SOURCE_PARTITIONS)
        self._offsets[number] += self._random.randrange(1, 40)
        parked = Announcement(
            kind="poison" if tries else "held",
            flow=FLOW,
            event_id=message.event_id,
            position=milliseconds(at),
            fingerprint=fingerprint(message.key, message.value, headers(message)),
            source=Coordinates(FLOW, number, self._offsets[number], milliseconds(at) - 900),
            key=message.key,
            value=message.value,
            headers=headers(message),
            consumer_group=GROUP,
            attempts=tries,
            blocked_by=None if tries else case.events[0].event_id,
            evidence=EVIDENCE if tries else None,
        )
        case.events.append(Event(at, message.event_id, announcement.encode(parked), bool(tries)))


def headers(message: Message) -> Headers:
    return tuple((name, value.encode() if isinstance(value, str) else value) for name, value in message.headers)


def answer(word: str, key: bytes, at: datetime, **given: object) -> Parked:
    """What the consumer says; `given` are members of the outcome."""
    said = Outcome(outcome=word, flow=FLOW, hold_key=key, consumer_group=GROUP, **given)  # type: ignore[arg-type]
    return Parked(FLOW, at, outcome.encode(said))


def settled(case: Case, at: datetime) -> list[Parked]:
    """Everything of the case applied and its key released, within a few seconds."""
    token = milliseconds(at)
    said = []
    for event in case.events:
        at += timedelta(milliseconds=180)
        remedy = case.remedies.get(event.event_id)
        word = "skipped" if remedy and remedy.action == "skip" else "applied"
        said.append(
            answer(
                word, case.key, at, event_id=event.event_id, position=milliseconds(event.at), token=token,
                fate_token=token, fingerprint=bytes(32),
            )
        )  # fmt: skip
    released = answer("released", case.key, at, token=token, position=milliseconds(at))
    return [*said, released]


def amount_as_text(sender: Sender, account: str, now: int) -> Trouble:
    message = sender.event("ChargeDisputed", account, amount_cents="1200.00", reason="other")
    right = {"amount_cents": 120000, "reason": "not_received"}
    late = replace(_tries(now - 64_000, 1, "TimeoutError", "no answer from the model in 30 s")[0], retryable=True)
    again = tuple(replace(attempt, number=attempt.number + 1) for attempt in _invalid_decision(message, now))
    return message, (late, *again), _mended(message, "minor units fixed, reason from the case file", right)


def unknown_reason(sender: Sender, account: str, now: int) -> Trouble:
    message = sender.event("RefundRequested", account, reason="goodwill")
    return message, _invalid_decision(message, now), _mended(message, "the case file says so", {"reason": "duplicate"})


def fax(sender: Sender, account: str, now: int) -> Trouble:
    message = sender.event("EvidenceAdded", account, evidence="fax")
    faults = event_faults("EvidenceAdded", json.loads(message.value))
    tries = _tries(now, 1, "InvalidEvent", "The event did not pass validation: 1 error.", faults)
    return message, tries, _mended(message, "a fax is filed as a letter", {"evidence": "letter"})


def no_limit(sender: Sender, account: str, now: int) -> Trouble:
    message = sender.event("LimitChanged", account, limit_cents=None)
    faults = event_faults("LimitChanged", json.loads(message.value))
    tries = _tries(now, 1, "InvalidEvent", "The event did not pass validation: 1 error.", faults)
    return message, tries, Remedy("skip", "superseded by a later limit")


def cut_off(sender: Sender, account: str, now: int) -> Trouble:
    message = sender.event("LimitChanged", account)
    message = message._replace(value=message.value[: len(message.value) - 9])
    wrong = ValidationError("", "JSON", "Expecting value: line 1 column 40 (char 39)", "send the event as JSON")
    tries = _tries(now, 1, "not-json", "the value is not JSON", [wrong])
    return message, tries, Remedy("skip", "cut off by the sender, who has sent it again")


def after_closing(sender: Sender, account: str, now: int) -> Trouble:
    message = sender.event("EvidenceAdded", account)
    tries = _tries(now, 1, "AccountIsClosed", f"{account} was closed by evt-{sender.random.getrandbits(64):016x}")
    return message, tries, Remedy("skip", "the account is closed, the case is settled by post")


def model_silent(sender: Sender, account: str, now: int) -> Trouble:
    message = sender.event("ChargeDisputed", account)
    tries = _tries(
        now, 3, "ModelFailed", "no answer from the model at http://model.example:8080: TimeoutError: timed out"
    )
    return message, tries, Remedy("apply", "the model answers again")


Make = Callable[[Sender, str, int], Trouble]
TROUBLES: tuple[Make, ...] = (
    amount_as_text, amount_as_text, amount_as_text, unknown_reason, unknown_reason, fax, cut_off, after_closing,
)  # fmt: skip


def _invalid_decision(message: Message, now: int) -> tuple[Attempt, ...]:
    faults = decision_faults({"verdict": "refund", **json.loads(message.value)})
    count = "1 error" if len(faults) == 1 else f"{len(faults)} errors"
    return _tries(now, 2, "InvalidDecision", f"The decision did not pass validation: {count}.", faults)


def _tries(
    now: int, count: int, error_type: str, said: str, faults: list[ValidationError] | None = None
) -> tuple[Attempt, ...]:
    trace = (
        f'Traceback (most recent call last):\n  File "disputes/decide.py", line 41, in __call__\n{error_type}: {said}'
    )
    return tuple(
        Attempt(number, now - (count - number) * 36_000, error_type, said, trace, tuple(faults or ()), count > 1)
        for number in range(1, count + 1)
    )


def _mended(message: Message, reason: str, right: dict[str, object]) -> Remedy:
    return Remedy("amend", reason, write({**json.loads(message.value), **right}), headers(message))
