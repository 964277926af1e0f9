"""The plan: the frozen, ordered list of decisions for one quarantine, and its digest.

People approve the digest, so it covers everything that decides what will run: which events, in which order, with which
bytes, why one is skipped, and how far the replay may go on by itself.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q, QuerySet

from parking import headers
from parking.errors import Refused
from parking.fields import pack
from parking.fingerprint import fingerprint
from parking.models import Decision, EventPayload, EventState, Flow, Quarantine
from replay.models import Replay, Step

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Planned:
    """One event of a plan. `fingerprint` (32 bytes) is of what is sent; of the source record where it is skipped."""

    ordinal: int
    event_state_id: int
    event_id: str
    position: int
    action: str
    fingerprint: bytes
    amendment_id: int | None = None
    skip_reason: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one replay would do. `target`: its kind and topic; `authors`: ids of who wrote decisions and amendments."""

    flow: str
    target: str
    hold_key: bytes
    follow: str
    follow_cap: int
    pace_per_second: int
    window: int
    steps: tuple[Planned, ...]
    repair: bool = False
    authors: frozenset[str] = frozenset()

    @property
    def digest(self) -> bytes:
        """SHA-256 (32 bytes) over the plan's fields, each with its length: no two plans share their bytes."""
        return hashlib.sha256(pack(_bytes(field) for field in self._fields())).digest()

    def _fields(self) -> Iterable[object]:
        yield from ("plan 1", self.flow, self.target, self.hold_key)
        yield from (self.follow, self.follow_cap, self.pace_per_second, self.window)
        for step in self.steps:
            yield from (step.ordinal, step.event_id, step.position, step.action, step.fingerprint, step.skip_reason)


def _target(flow: Flow) -> str:
    return f"{flow.target} {flow.replays_to}"


def _bytes(field: object) -> bytes:
    return field if isinstance(field, bytes) else str(field).encode("utf-8", "surrogatepass")


def build(quarantine: Quarantine, *, follow: str = Replay.Follow.FOLLOW, up_to: int | None = None) -> Plan:
    """The plan for all unsettled events of the quarantine (up to that position), as they are decided now.

    Held events default to `apply`. Raises Refused if a poison event, or one whose bytes are
    not the original ones, has no decision yet.
    """
    events = list(_events(quarantine, up_to).filter(state=EventState.State.PARKED))
    undecided = [event for event in events if _undecided(event)]
    if undecided:
        raise Refused(_no_decision(undecided))
    planned = tuple(_planned(ordinal, event) for ordinal, event in enumerate(events, start=1))
    authors = frozenset(author for event in events for author in _authors(event))
    return replace(_empty(quarantine, str(follow)), steps=planned, authors=authors)


def repair(quarantine: Quarantine, *, up_to: int | None = None) -> Plan:
    """The plan that has the consumer hold again all events of the quarantine (up to that position), settled ones too.

    For a ledger that was restored or lost: it answers with the fact where it knows one. A settled event whose bytes
    retention has removed is left out; one that is only a pointer is held as what there is of it. Raises
    Refused for a flow without the gate.
    """
    if not quarantine.flow.gated:
        raise Refused(f"The consumer of flow {quarantine.flow.name} keeps no ledger: there is nothing to hold again.")
    scrubbed = Q(scrubbed_at__isnull=False) & ~Q(state=EventState.State.PARKED)
    events = _events(quarantine, up_to).exclude(scrubbed)
    planned = tuple(_held_again(ordinal, event) for ordinal, event in enumerate(events, start=1))
    return replace(_empty(quarantine, Replay.Follow.STOP.value), steps=planned, repair=True)


def _empty(quarantine: Quarantine, follow: str) -> Plan:
    flow = quarantine.flow
    return Plan(
        flow=flow.name,
        target=_target(flow),
        hold_key=bytes(quarantine.hold_key.key),
        follow=follow,
        follow_cap=flow.follow_cap,
        pace_per_second=flow.pace_per_second,
        window=flow.window if flow.gated else 1,  # without a gate nothing keeps the second from overtaking the first
        steps=(),
    )


def again(replay: Replay) -> Plan:
    """The plan of a replay, built anew from what is decided now for the events up to its last one.

    Its digest differs from the replay's as soon as one of them was decided anew, amended or settled, or another event
    came between. Raises Refused like `build`.
    """
    last = replay.steps.order_by("-ordinal").values_list("position", flat=True).first()
    up_to = -1 if last is None else last
    if replay.repair:
        return repair(replay.quarantine, up_to=up_to)
    return build(replay.quarantine, follow=replay.follow, up_to=up_to)


def frozen(replay: Replay) -> Plan:
    """The plan as it stands in the replay's own steps, without those that followed."""
    steps = replay.steps.filter(followed=False).select_related("event_state__event").order_by("ordinal")
    return Plan(
        flow=replay.flow.name,
        target=_target(replay.flow),
        hold_key=bytes(replay.quarantine.hold_key.key),
        follow=replay.follow,
        follow_cap=replay.follow_cap,
        pace_per_second=replay.pace_per_second,
        window=replay.window,
        steps=tuple(_from_step(step) for step in steps),
        repair=replay.repair,
        authors=frozenset(replay.authors),
    )


def steps(replay: Replay, planned: Sequence[Planned], *, followed: bool = False) -> list[Step]:
    """Unsaved rows for the events of a plan."""
    return [
        Step(
            replay=replay,
            ordinal=one.ordinal,
            event_state_id=one.event_state_id,
            position=one.position,
            action=one.action,
            amendment_id=one.amendment_id,
            skip_reason=one.skip_reason,
            fingerprint=one.fingerprint,
            followed=followed,
        )
        for one in planned
    ]


def _events(quarantine: Quarantine, up_to: int | None) -> QuerySet[EventState]:
    events = quarantine.events.order_by("position")
    events = events if up_to is None else events.filter(position__lte=up_to)
    return events.select_related("event", "decision__amendment")


def decision_of(event: EventState) -> Decision | None:
    """The decision that somebody made for the event, if anybody did."""
    return getattr(event, "decision", None)


def _undecided(event: EventState) -> bool:
    asked = event.kind == EventState.Kind.POISON or bool(event.event.not_original)
    return asked and decision_of(event) is None


def _no_decision(events: Sequence[EventState]) -> str:
    named = ", ".join(event.event.event_id for event in events[:SHOWN])
    more = f" and {len(events) - SHOWN} more" if len(events) > SHOWN else ""
    what = "poison event" if all(event.kind == EventState.Kind.POISON for event in events) else "event"
    count = f"1 {what} has" if len(events) == 1 else f"{len(events)} {what}s have"
    return f"{count} no decision yet: {named}{more}. Decide apply, amend or skip for each, then ask again."


def _planned(ordinal: int, event: EventState) -> Planned:
    decision = decision_of(event)
    action = decision.action if decision else Decision.Action.APPLY
    amendment = decision.amendment if decision else None
    return Planned(
        ordinal=ordinal,
        event_state_id=event.pk,
        event_id=event.event.event_id,
        position=event.position if event.position is not None else -1,
        action=str(action),
        fingerprint=bytes(amendment.fingerprint if amendment else event.event.fingerprint),
        amendment_id=amendment.pk if amendment else None,
        skip_reason=decision.reason if decision and decision.action == Decision.Action.SKIP else "",
    )


def _held_again(ordinal: int, event: EventState) -> Planned:
    sent = _as_stored(event) if event.event.to_be_fetched else bytes(event.event.fingerprint)
    position = event.position if event.position is not None else -1
    return Planned(ordinal, event.pk, event.event.event_id, position, "hold", sent)


def _as_stored(event: EventState) -> bytes:
    """The fingerprint of what is here of an event whose key and value are still in the source topic, if even there.

    The ledger needs its place; what is applied in the end has to be fetched first, or amended.
    """
    stored = EventPayload.objects.get(pk=event.pk, stored_at=event.stored_at)
    key, value = (None if field is None else bytes(field) for field in (stored.key, stored.value))
    return fingerprint(key, value, headers.unpack(stored.headers))


def _authors(event: EventState) -> Iterable[str]:
    decision = decision_of(event)
    if decision:
        yield decision.actor_id
        if decision.amendment:
            yield decision.amendment.actor_id


def _from_step(step: Step) -> Planned:
    return Planned(
        ordinal=step.ordinal,
        event_state_id=step.event_state_id,
        event_id=step.event_state.event.event_id,
        position=step.position,
        action=step.action,
        fingerprint=bytes(step.fingerprint),
        amendment_id=step.amendment_id,
        skip_reason=step.skip_reason,
    )
