"""How a replay ends: the quarantine is open again, unless the consumer has released it, and the journal says why."""

from django.utils import timezone

from parking import alarms, journal, quarantine
from parking.actor import system
from replay import states
from replay.models import Replay, Step

WORKER = system("worker")


def end(replay: Replay, to: str, *, reason: str = "", step: Step | None = None, restored: bool = False) -> None:
    """Move a started replay to `completed`, `cancelled` or `stopped`, in the caller's transaction, as its last act.

    What was not sent stays `pending` and is never sent. A conflict, and a consumer whose ledger was `restored` or lost
    (it does not hold what we know to be held), are told to the owner as an incident.
    """
    quarantine.end_replay(quarantine_id=replay.quarantine_id)
    states.move(
        Replay.objects.filter(pk=replay.pk),
        to,
        moves=states.REPLAY,
        finished_at=timezone.now(),
        stop_reason=reason,
        stopped_at_step=step.ordinal if step else None,
        waiting_for="",
    )
    if restored or (step and step.reason.startswith("not-held")):
        _alert(replay, "restored-ledger", "the consumer's ledger was restored or lost")
    if replay.steps.filter(state=Step.State.CONFLICT).exists():
        conflict(replay)
    journal.write(
        actor=WORKER,
        verb=VERBS[to],
        flow=replay.flow,
        quarantine_id=replay.quarantine_id,
        event_id=step.event_state_id if step else None,
        replay_id=replay.pk,
        reason=reason,
        detail={"steps": _counts(replay)},
    )


VERBS = {"completed": "complete", "cancelled": "end cancelled", "stopped": "stop"}


def conflict(replay: Replay) -> None:
    """Tell the owner that the consumer knows another fate of an event than the one that was planned."""
    _alert(replay, "conflict", "an event has another fate at the consumer than the one that was planned")


def _alert(replay: Replay, kind: str, what: str) -> None:
    """Nothing of a key, an id or a payload: it leaves the console."""
    summary = f"Replay {replay.pk} of flow {replay.flow.name}: {what}. Look at the replay before anything else is done."
    alarms.open_incident(kind=kind, flow=replay.flow, key=f"quarantine {replay.quarantine_id}", summary=summary)


def because(step: Step) -> str:
    """Why this step stops the replay, for people: `Step 3 (evt-1) failed: InvalidDecision.`"""
    reason = step.reason.removeprefix(f"{step.state}: ")
    word = "failed" if step.state == Step.State.FAILED else f"is {step.get_state_display().lower()}"
    return f"Step {step.ordinal} ({step.event_state.event.event_id}) {word}{f': {reason}' if reason else ''}."


def _counts(replay: Replay) -> dict[str, int]:
    counts: dict[str, int] = {}
    for state in replay.steps.values_list("state", flat=True):
        counts[state] = counts.get(state, 0) + 1
    return counts
