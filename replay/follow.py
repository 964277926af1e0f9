"""Events that were held while a replay ran follow it, as far as the approved plan says (DESIGN section 4)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.utils import timezone

from parking.event_id import bounded
from parking.models import EventState, Outcome, Quarantine
from replay import plan
from replay.models import Replay, Step
from replay.plan import Planned

RESTORED = "The consumer's ledger was restored or lost"


@dataclass(frozen=True, slots=True)
class Named:
    """One event that the consumer still holds, as it names it."""

    event_id: str
    position: int
    poison: bool

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(bounded(self.event_id).encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Following:
    """What comes next: these events, or a stop with its reason, or (neither) wait until intake has read them."""

    events: list[EventState] = field(default_factory=list)
    stop: str = ""
    waiting_for: str = ""

    @property
    def restored(self) -> bool:
        """Whether it stops because the consumer's ledger is of an older time."""
        return self.stop.startswith(RESTORED)


def following(replay: Replay, answer: Outcome) -> Following:
    """What the plan says to the events that a `still-held` names. The quarantine is locked until the commit, so that
    nobody decides on them meanwhile."""
    Quarantine.objects.select_for_update().get(pk=replay.quarantine_id)
    named = still_held(answer)
    refusal = _refusal(replay, answer, named)
    if refusal:
        return Following(stop=refusal)
    room = replay.follow_cap - replay.followed
    return _up_to_the_first_that_may_not(replay, answer, named[:room])


def still_held(answer: Outcome) -> list[Named]:
    """The named events in ledger order; members that are not what they should be are left out."""
    evidence = answer.evidence if isinstance(answer.evidence, dict) else {}
    listed = evidence.get("still_held")
    members = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    named = [
        Named(one["event_id"], position if isinstance(position, int) else 0, one.get("kind") == "poison")
        for one in members
        if isinstance(one.get("event_id"), str) and ((position := one.get("position")) or True)
    ]
    return sorted(named, key=lambda one: one.position)


def add(replay: Replay, events: Sequence[EventState]) -> None:
    """Append the events to the replay's steps, each to be applied as it is."""
    last = replay.steps.order_by("-ordinal").values_list("ordinal", flat=True).first() or 0
    planned = [
        Planned(ordinal, event.pk, event.event.event_id, event.position or 0, "apply", bytes(event.event.fingerprint))
        for ordinal, event in enumerate(events, start=last + 1)
    ]
    Step.objects.bulk_create(plan.steps(replay, planned, followed=True))


def _refusal(replay: Replay, answer: Outcome, named: Sequence[Named]) -> str:
    count = answer.evidence.get("held_count") if isinstance(answer.evidence, dict) else None
    more = f"{count if isinstance(count, int) else len(named)} more event(s) of the key are held"
    if replay.follow == Replay.Follow.STOP:
        return f"{more} and the plan says stop: they need a plan and an approval of their own."
    if replay.followed >= replay.follow_cap:
        return (
            f"{more} and the plan's limit of {replay.follow_cap} following events is reached: ask for another replay."
        )
    return "" if named else "The consumer still holds something and does not name it: look at its ledger."


def _up_to_the_first_that_may_not(replay: Replay, answer: Outcome, named: Sequence[Named]) -> Following:
    events = _stored(replay, named)
    steps = set(replay.steps.values_list("event_state_id", flat=True))
    follow: list[EventState] = []
    for one in named:
        event = events.get(one.digest)
        stop = _may_not(replay, one, event, steps)
        if event is None or stop:
            return Following(events=follow) if follow else _wait_or_stop(replay, answer, one, stop)
        follow.append(event)
    return Following(events=follow)


def _stored(replay: Replay, named: Sequence[Named]) -> dict[bytes, EventState]:
    rows = EventState.objects.filter(flow_id=replay.flow_id, event_digest__in=[one.digest for one in named])
    return {bytes(event.event_digest): event for event in rows.select_related("event", "decision")}


def _may_not(replay: Replay, one: Named, event: EventState | None, steps: set[int]) -> str:
    """Why the event may not follow; empty if it may, or is not known yet."""
    if event is None:
        return ""
    if event.pk in steps or event.state != EventState.State.PARKED or event.quarantine_id != replay.quarantine_id:
        return f"{RESTORED}: it holds {one.event_id}, which it had already settled."
    if one.poison or event.kind == EventState.Kind.POISON:
        return (
            f"A new poison event came behind the approved ones ({one.event_id}): it needs a decision and an approval."
        )
    if event.event.not_original:
        return f"{one.event_id} was held meanwhile: {event.event.not_original} It needs a decision and an approval."
    if plan.decision_of(event):
        return f"{one.event_id} was held meanwhile and has a decision of its own: it needs an approval."
    return ""


def _wait_or_stop(replay: Replay, answer: Outcome, one: Named, stop: str) -> Following:
    if stop:
        return Following(stop=stop)
    patience = timedelta(seconds=replay.flow.outcome_timeout_seconds)
    if answer.received_at + patience > timezone.now():
        return Following(waiting_for=f"Intake has not read {one.event_id} yet, which the consumer holds.")
    return Following(
        stop=f"The consumer holds {one.event_id}, which intake has not read in {patience.seconds} s: look whether "
        "intake runs and how far it is behind. If its parking record was lost, have the consumer announce it again "
        "(announce_again, docs/consumer-kit.md)."
    )
