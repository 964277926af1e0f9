"""A worker drives a replay: look at what was answered, record what comes next, send it, and again.

Every look is one transaction that locks the replay's row under the worker's lease, so a cancel, a pause or another
worker is seen before anything more is recorded; and only what is recorded is sent.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.utils import timezone

from parking.models import EventState
from replay import lease as leases
from replay import outside, release, sending, settle, start, states
from replay.end import because, end
from replay.lease import Lease, LeaseLost
from replay.models import Replay, Step

SLEEP = 0.05
PATIENCE = 0.5
SOON = 0.25
LATER = 2.0


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found: steps or the marker to send now; whether anything moved; what is waited for; is it over."""

    steps: tuple[Step, ...] = ()
    marker: bool = False
    moved: bool = False
    waiting_for: str = ""
    over: bool = False


def advance(replay_id: int, *, owner: str, seconds: float = 2.0, patience: float = PATIENCE) -> float | None:
    """Drive the replay for about `seconds`, less if nothing moves for `patience` seconds.

    Returns in how many seconds to go on, None if there is nothing to do (for us).
    """
    lease = leases.take(replay_id, owner)
    if lease is None:
        return None
    try:
        due_in = _drive(lease, seconds, patience)
    except LeaseLost:
        return None
    leases.give_back(lease, due_in=due_in)
    if due_in is None and Replay.objects.filter(pk=replay_id, state__in=states.DRIVEN).exists():
        return 0.0  # somebody resumed it after the last look, and their message met our lease
    return due_in


def finish(replay_id: int, *, seconds: float = 60.0, owner: str = "in process") -> Replay:
    """Drive the replay in this process until it ends or pauses, at most `seconds`; the replay as it is then."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        advance(replay_id, owner=owner)
        replay = Replay.objects.get(pk=replay_id)
        if replay.state not in states.DRIVEN:
            return replay
        time.sleep(SLEEP)
    return replay


def _drive(lease: Lease, seconds: float, patience: float) -> float | None:
    until = time.monotonic() + seconds
    idle = 0.0
    while True:
        look = _tick(lease)
        if look.over:
            return None
        if look.waiting_for:
            return LATER
        idle = 0.0 if look.moved else idle + SLEEP
        if idle > patience:
            return SOON
        if time.monotonic() >= until:
            return 0.0
        if not look.moved:
            time.sleep(SLEEP)


def _tick(lease: Lease) -> Look:
    """One look, and what it recorded sent."""
    if Replay.objects.filter(pk=lease.replay_id, state=Replay.State.APPROVED).exists():
        waiting_for = start.start(lease)
        return _noted(lease, Look(moved=not waiting_for, waiting_for=waiting_for))
    seen = outside.look(lease.replay_id)
    with leases.held(lease) as replay:
        moved = bool(settle.settle(replay)) if replay.flow.gated else outside.settle(replay, seen)
        blind = seen.waiting_for and replay.state == Replay.State.RUNNING
        look = Look() if blind else _LOOKS.get(replay.state, _nothing)(replay)
    waiting_for = look.waiting_for or seen.waiting_for
    if look.steps:
        waiting_for = sending.send(lease, replay, look.steps)
    elif look.marker:
        waiting_for = release.send(lease, replay)
    return _noted(lease, Look(moved=moved or look.moved, waiting_for=waiting_for, over=look.over))


def _noted(lease: Lease, look: Look) -> Look:
    """Let people see what is waited for, if that changed."""
    rows = Replay.objects.filter(pk=lease.replay_id, lease_epoch=lease.epoch)
    rows.exclude(waiting_for=look.waiting_for).update(waiting_for=look.waiting_for)
    return look


def _running(replay: Replay) -> Look:
    sent = sending.in_flight(replay)
    culprit = _culprit(replay)
    if culprit:
        return _drained(replay, sent) or _ended(replay, "stopped", because(culprit), culprit)
    if not replay.flow.gated:
        return _one_by_one(replay, sent)
    unsent = [step for step in sent if step.acked_at is None]
    if unsent:
        return _recorded(unsent)
    late = [step for step in sent if sending.overdue(replay, step, timezone.now())]
    hopeless = [step for step in late if step.sends >= sending.MOST_SENDS]
    if hopeless:
        sending.give_up(hopeless)
        return Look(moved=True)
    steps = late or sending.upcoming(replay, len(sent), timezone.now())
    return _recorded(steps) if steps else _done(replay, sent)


def _one_by_one(replay: Replay, sent: list[Step]) -> Look:
    """Without a gate: nothing is sent a second time, and the next only when the outcome of the one before is known."""
    late = [step for step in sent if sending.overdue(replay, step, timezone.now())]
    if late:
        sending.give_up(late)
        return Look(moved=True)
    steps = [] if sent else sending.upcoming(replay, 0, timezone.now())
    if not steps:
        return _done(replay, sent)
    outside.remember(steps)
    return _recorded(steps)


def _recorded(steps: list[Step]) -> Look:
    sending.record(steps)
    return Look(steps=tuple(steps), moved=True)


def _done(replay: Replay, sent: list[Step]) -> Look:
    if sent or replay.steps.filter(state=Step.State.PENDING).exists():
        return Look()
    release.begin(replay)
    return Look(moved=True)


def _culprit(replay: Replay) -> Step | None:
    """The step that stops the replay, if there is one: a failure or conflict before what only followed from it."""
    stopping = replay.steps.filter(state__in=states.STOPPING).select_related("event_state__event")
    return min(stopping, key=lambda step: (states.STOPPING.index(step.state), step.ordinal), default=None)


def _drained(replay: Replay, sent: list[Step]) -> Look | None:
    """Nothing more is sent; None when everything that was sent has its outcome, or was given up."""
    if not sent:
        return None
    late = [step for step in sent if sending.overdue(replay, step, timezone.now())]
    if late:
        sending.give_up(late)
    return Look(moved=bool(late))


def _releasing(replay: Replay) -> Look:
    if not replay.flow.gated:
        return _let_go(replay)
    if replay.repair:
        return _ended(replay, "completed", "")  # the key is to stay closed: what is held again is decided on anew
    answer = release.answer_of(replay)
    if answer:
        waiting_for = release.take(replay, answer)
        return Look(moved=not waiting_for, waiting_for=waiting_for)
    if release.marker_due(replay, timezone.now()):
        release.record(replay)
        return Look(marker=True, moved=True)
    if release.overdue(replay, timezone.now()):
        release.no_answer(replay)
        return Look(over=True)
    return Look()


def _let_go(replay: Replay) -> Look:
    """Without a gate the key was released with its last event (parking.infer), unless others failed meanwhile."""
    more = EventState.objects.unsettled(replay.quarantine_id).count()
    if not more:
        return _ended(replay, "completed", "")
    reason = f"{more} more event(s) of the key were parked meanwhile: they need decisions, a plan and an approval."
    return _ended(replay, "stopped", reason)


def _cancelling(replay: Replay) -> Look:
    drained = _drained(replay, sending.in_flight(replay))
    if drained:
        return drained
    answer = release.answer_of(replay)
    if replay.release_sent_at and not answer and not release.overdue(replay, timezone.now()):
        return Look()
    said = f"The release marker had been sent; the consumer answered {answer.outcome}." if answer else ""
    return _ended(replay, "cancelled", said)


def _paused(replay: Replay) -> Look:
    return Look(over=not replay.steps.filter(state=Step.State.IN_FLIGHT).exists())


def _ended(replay: Replay, to: str, reason: str, step: Step | None = None) -> Look:
    end(replay, to, reason=reason, step=step)
    return Look(over=True)


def _nothing(_: Replay) -> Look:
    return Look(over=True)


_LOOKS: dict[str, Callable[[Replay], Look]] = {
    Replay.State.RUNNING: _running,
    Replay.State.RELEASING: _releasing,
    Replay.State.CANCELLING: _cancelling,
    Replay.State.PAUSED: _paused,
}
