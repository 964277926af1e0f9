"""One story for tests of pages and for the screenshots: keys of four flows, stopped by lifelike errors, all synthetic.

Everything is announced in the wire format and stored by intake's own code; only Kafka is left out. Times count back
from now.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from console.models import Grant
from parking import headers as packed
from parking.actor import Actor
from parking.attempt import Attempt, ValidationError
from parking.coordinates import Coordinates
from parking.fingerprint import fingerprint
from parking.intake import flows, positions
from parking.intake.read import Arrived
from parking.intake.store import store
from parking.models import Cluster, EventPayload, EventState, Flow, Quarantine, Team, TopicIncarnation
from parking.record import Headers, Record
from parking.wire import Announcement, Outcome, Wire, announcement, outcome
from parking.wire.outcome import StillHeld
from replay import amend, approve, decide, plan, request, states
from replay.models import Replay

PASSWORD = "synthetic-password-1"
SCHEMA = {
    "title": "dispute-decision 14",
    "type": "object",
    "required": ["dispute_id", "amount_cents", "account", "reason"],
    "properties": {
        "dispute_id": {"type": "string"},
        "amount_cents": {"type": "integer", "minimum": 0},
        "account": {"type": "string"},
        "reason": {"enum": ["fraud", "duplicate", "not_received"]},
        "ledger_seq": {"type": "integer"},
    },
}
BAD = b"""{"dispute_id": "dsp-7731", "amount_cents": "1200.00", "account": "acc-20417", "reason": "other", \
"ledger_seq": 9007199254740993123}"""
GOOD = BAD.replace(b'"1200.00"', b"120000").replace(b'"other"', b'"not_received"')
EVIDENCE = {"model": "m-4.1", "prompt": "p-112", "policy": "2026-11"}
ERRORS = (
    ValidationError("/amount_cents", "integer", '"1200.00"', "send minor units, for example 120000"),
    ValidationError("/reason", "fraud, duplicate, not_received", '"other"', "choose one of the listed reasons"),
)
TRACE = """Traceback (most recent call last):
  File "/srv/disputes/service.py", line 88, in handle
    decision = self.decide(event)
  File "/srv/disputes/decide.py", line 41, in decide
    raise InvalidDecision(errors)
InvalidDecision: The decision did not pass validation: 2 errors."""


def person(username: str, name: str = "", **grants: Flow) -> User:
    """A person with a role in each flow given by role: person("oncall", operator=flow)."""
    first, _, last = (name or username).partition(" ")
    user = User.objects.create_user(username, password=PASSWORD, first_name=first, last_name=last)
    for role, flow in grants.items():
        Grant.objects.create(user=user, flow=flow, role=role)
    return user


def actor(user: User) -> Actor:
    return Actor(f"user:{user.pk}", user.get_full_name() or user.username)


def make_flow(name: str, team: str = "Payments team", **changes: Any) -> Flow:
    bootstrap = changes.pop("bootstrap", "kafka.example:9092")
    cluster, _ = Cluster.objects.get_or_create(name="main", defaults={"bootstrap_servers": bootstrap})
    owner, _ = Team.objects.get_or_create(name=team)
    fields: dict[str, Any] = {
        "cluster": cluster,
        "team": owner,
        "source_topic": name,
        "consumer_group": f"{name}-service",
        "parking_topic": f"{name}.parking",
        "replay_topic": f"{name}.replay",
        "runbook": f"https://runbooks.example/{name}",
    }
    return Flow.objects.create(name=name, **(fields | changes))


@dataclass
class Lot:
    """The parking topic of one flow, with intake behind it."""

    flow: Flow
    topic: TopicIncarnation = field(init=False)
    next: int = 0

    def __post_init__(self) -> None:
        life = hashlib.sha256(self.flow.parking_topic.encode()).hexdigest()[:22]
        self.topic = TopicIncarnation.objects.create(
            cluster=self.flow.cluster, name=self.flow.parking_topic, topic_id=life
        )
        positions.position(self.topic, 0, start=0)

    def take(self, wires: Sequence[tuple[Wire, float]]) -> None:
        """Store records; each with how many seconds ago it was parked."""
        arrived = [
            Arrived(self._record(at, wire, ago), self.topic.pk) for at, (wire, ago) in enumerate(wires, self.next)
        ]
        readers = flows.by_topic([self.flow])[self.flow.cluster_id, self.flow.parking_topic]
        store(arrived, {self.topic.pk: readers}, {(self.topic.pk, 0): self.next})
        self.next += len(arrived)

    def _record(self, offset: int, wire: Wire, ago: float) -> Record:
        return Record(self.flow.parking_topic, 0, offset, ms(ago), wire.key, wire.value, wire.headers)

    def announce(self, kind: str, event_id: str, **given: Any) -> tuple[Wire, float]:
        """One announcement, ready for `take`. `ago` seconds; the rest are fields of the announcement."""
        ago, offset = given.pop("ago", 60.0), given.pop("offset", 0)
        key, value = given.pop("key", b"acc-1"), given.pop("value", b"{}")
        headers: Headers = given.pop("headers", ()) or (("event-id", event_id.encode()),)
        parked = Announcement(
            kind=kind,
            flow=self.flow.name,
            event_id=event_id,
            position=given.pop("position", ms(ago)),
            fingerprint=fingerprint(key, value, headers),
            source=Coordinates(self.flow.source_topic, given.pop("partition", 1), offset, ms(ago)),
            key=key,
            value=value,
            headers=headers,
            consumer_group=self.flow.consumer_group,
            **given,
        )
        return announcement.encode(parked), ago

    def quarantine(self, key: bytes) -> Quarantine:
        return Quarantine.objects.get(flow=self.flow, hold_key__key=key)


def ms(ago: float) -> int:
    return int((timezone.now().timestamp() - ago) * 1000)


def typed(event_id: str, kind: str) -> Headers:
    return (("event-id", event_id.encode()), ("event-type", kind.encode()), ("content-type", b"application/json"))


def body(**members: Any) -> bytes:
    return json.dumps(members).encode()


def disputed_key(
    lot: Lot, key: bytes = b"acc-20417", ago: float = 3 * 3600 + 12 * 60, *, gap: bool = True
) -> Quarantine:
    """The key of the pictures: two poison events, five held ones, and one that the consumer holds and nobody saw."""
    name = key.decode()

    def held(event_id: str, kind: str, offset: int, later: float) -> tuple[Wire, float]:
        return lot.announce(
            "held",
            event_id,
            key=key,
            ago=ago * (1 - later / 11_520),
            offset=offset,
            headers=typed(event_id, kind),
            value=body(account=name, type=kind, seq=offset),
            blocked_by=f"{name}-1",
        )

    first = lot.announce(
        "poison",
        f"{name}-1",
        key=key,
        ago=ago,
        offset=88_120,
        value=BAD.replace(b"acc-20417", key),
        headers=(*typed(f"{name}-1", "ChargeDisputed"), ("trace", None), ("trace", b""), ("trace", b"\x01\xff")),
        attempts=(
            Attempt(1, ms(ago + 65), "TimeoutError", "no answer in 30 s", "TimeoutError: no answer in 30 s", (), True),
            Attempt(
                2, ms(ago + 36), "InvalidDecision", "The decision did not pass validation: 2 errors.", TRACE, ERRORS
            ),
            Attempt(3, ms(ago), "InvalidDecision", "The decision did not pass validation: 2 errors.", TRACE, ERRORS),
        ),
        evidence=EVIDENCE,
    )
    second = lot.announce(
        "poison",
        f"{name}-4",
        key=key,
        ago=ago * (1 - 360 / 11_520),
        offset=88_197,
        value=body(account=name, limit=None),
        headers=typed(f"{name}-4", "LimitChanged"),
        attempts=(Attempt(1, ms(ago - 360), "MissingLimit", "limit is null", "", (), False),),
        evidence=EVIDENCE,
    )
    lot.take(
        [
            first,
            held(f"{name}-2", "EvidenceAdded", 88_131, 41),
            held(f"{name}-3", "EvidenceAdded", 88_132, 43),
            second,
            held(f"{name}-5", "RefundRequested", 88_214, 540),
            held(f"{name}-6", "RefundRequested", 88_301, 3720),
            held(f"{name}-7", "AccountClosed", 88_377, 10200),
        ]
    )
    if gap:
        _tell_of_a_missing_event(lot, key, ago)
    return lot.quarantine(key)


def _tell_of_a_missing_event(lot: Lot, key: bytes, ago: float) -> None:
    name = key.decode()
    unseen = StillHeld(f"{name}-8", ms(ago - 400), "held", Coordinates(lot.flow.source_topic, 1, 88_205, ms(ago - 400)))
    answer = Outcome(
        outcome="still-held", flow=lot.flow.name, hold_key=key, token=ms(ago), held_count=8, still_held=(unseen,)
    )
    lot.take([(outcome.encode(answer), 30)])


def simple_key(
    lot: Lot, key: bytes, *, ago: float, error: tuple[str, str], held: int = 0, kind: str = "Event"
) -> Quarantine:
    """A key with one poison event and some held ones behind it."""
    name = key.decode("utf-8", "replace")
    tries = (Attempt(1, ms(ago), error[0], error[1], f"{error[0]}: {error[1]}", (), False),)
    events = [
        lot.announce(
            "poison", f"{name}-1", key=key, ago=ago, offset=4_000 + lot.next, attempts=tries,
            headers=typed(f"{name}-1", kind), value=body(id=name, amount=1), evidence=EVIDENCE,
        )
    ]  # fmt: skip
    for number in range(held):
        later = ago * (number + 1) / (held + 2)
        event_id = f"{name}-{number + 2}"
        events.append(
            lot.announce(
                "held", event_id, key=key, ago=ago - later, offset=4_100 + lot.next + number,
                headers=typed(event_id, kind), value=body(id=name, amount=number), blocked_by=f"{name}-1",
            )
        )  # fmt: skip
    lot.take(events)
    return lot.quarantine(key)


def event_of(quarantine: Quarantine, number: int) -> EventState:
    """The event at that place in the queue, 1 for the head."""
    return EventState.objects.in_order(quarantine)[number - 1]


def headers_of(event: EventState) -> Headers:
    return packed.unpack(EventPayload.objects.get(pk=event.pk).headers)


def decided(key: Quarantine, by: User) -> None:
    """The first poison event amended, the second one skipped, as in the pictures."""
    head, fourth = event_of(key, 1), event_of(key, 4)
    amend.amend(
        event_state_id=head.pk,
        value=GOOD.replace(b"acc-20417", bytes(key.hold_key.key)),
        headers=headers_of(head),
        actor=actor(by),
        reason="minor units fixed, reason from the case file",
        seen_version=1,
    )
    decide.decide(event_state_id=fourth.pk, action="skip", reason="superseded by 88 301", actor=actor(by))


def requested(key: Quarantine, by: User, reason: str = "minor units fixed, reason from the case file") -> Replay:
    digest = plan.build(key).digest
    return request.request(quarantine_id=key.pk, digest=digest, actor=actor(by), reason=reason)


def started(replay: Replay, by: User, reason: str = "Checked the case file; amounts match the ledger.") -> Replay:
    """Approved by that person, and taken by a worker that has sent nothing yet."""
    approve.approve(
        replay_id=replay.pk, digest=bytes(replay.digest), actor=actor(by), reason=reason, memory_confirmed=True
    )
    states.move(
        Replay.objects.filter(pk=replay.pk), "running", moves=states.REPLAY,
        token=ms(0), partitions=3, started_at=timezone.now() - timedelta(seconds=9),
    )  # fmt: skip
    Quarantine.objects.filter(pk=replay.quarantine_id).update(state="replaying")
    replay.refresh_from_db()
    return replay


def sent(replay: Replay, first: int, last: int) -> None:
    """Steps of these ordinals are in flight."""
    rows = replay.steps.filter(ordinal__range=(first, last))
    states.move(
        rows,
        "in_flight",
        moves=states.STEP,
        only=last - first + 1,
        sends=1,
        sent_at=timezone.now(),
        acked_at=timezone.now(),
    )


def answered(lot: Lot, replay: Replay, last: int) -> None:
    """The consumer applied or skipped everything up to that ordinal; intake has read it, the replay too."""
    for step in replay.steps.filter(ordinal__lte=last, state="in_flight").select_related("event_state__event"):
        word = "skipped" if step.action == "skip" else "applied"
        fact = Outcome(
            outcome=word, flow=lot.flow.name, hold_key=bytes(replay.quarantine.hold_key.key),
            event_id=step.event_state.event.event_id, position=step.position, token=replay.token,
            replay_id=str(replay.pk), fate_token=replay.token, fingerprint=bytes(step.fingerprint),
        )  # fmt: skip
        lot.take([(outcome.encode(fact), 1)])
        states.move(replay.steps.filter(pk=step.pk), word, moves=states.STEP, settled_at=timezone.now())


def stopped(replay: Replay, at: int, reason: str) -> None:
    """The step failed, and the replay stopped there."""
    states.move(
        replay.steps.filter(ordinal=at),
        "failed",
        moves=states.STEP,
        reason="InvalidDecision",
        settled_at=timezone.now(),
    )
    Quarantine.objects.filter(pk=replay.quarantine_id).update(state="open")
    _end(replay, "stopped", stop_reason=reason, stopped_at_step=at)


def completed(lot: Lot, replay: Replay) -> None:
    """The consumer confirmed the release."""
    states.move(Replay.objects.filter(pk=replay.pk), "releasing", moves=states.REPLAY)
    released = Outcome(
        outcome="released", flow=lot.flow.name, hold_key=bytes(replay.quarantine.hold_key.key),
        token=replay.token, replay_id=str(replay.pk), position=ms(-10),
    )  # fmt: skip
    lot.take([(outcome.encode(released), 0)])
    _end(replay, "completed")


def _end(replay: Replay, to: str, **changes: Any) -> None:
    states.move(Replay.objects.filter(pk=replay.pk), to, moves=states.REPLAY, finished_at=timezone.now(), **changes)
    replay.refresh_from_db()
