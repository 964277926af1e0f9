"""Quarantined → Decided → Approved → Replaying → Released: where a key stands, in five words."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from parking.models import EventState, Quarantine
from replay.models import Replay, Step

DONE, NOW, STOPPED, LATER = "done", "now", "stopped", "later"
FINISHED = ("completed", "releasing")


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: how far (done, now, stopped, later), a text, and the moment where it has one."""

    name: str
    state: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """How many events need a decision, how many of them have none, and what was decided for all."""

    asked: int
    undecided: int
    actions: str
    what: str = "poison event"


def decided(quarantine: Quarantine) -> Decided:
    """Counts over the unsettled events: three short queries."""
    waiting = EventState.objects.unsettled(quarantine).order_by()
    actions = Counter(action or "" for action in waiting.values_list("decision__action", flat=True))
    undecided = waiting.undecided().count()
    actions["apply"] += actions.pop("", 0) - undecided
    asked = waiting.asked().count()
    what = "poison event" if asked == quarantine.poison else "event"
    return Decided(asked, undecided, said(actions), what)


def said(actions: Counter[str]) -> str:
    """`1 amend, 1 skip, 5 apply`."""
    return ", ".join(f"{actions[name]} {name}" for name in ("amend", "skip", "apply") if actions[name])


def of_key(quarantine: Quarantine, decisions: Decided, replay: Replay | None, *, for_you: bool = False) -> list[Stage]:
    """The stages of a key: `replay` is its living one, or the one that released it.

    `for_you`: the viewer is one who may approve it.
    """
    quarantined = Stage("Quarantined", DONE, "", quarantine.opened_at)
    if quarantine.state == Quarantine.State.RELEASED:
        return [quarantined, *_past(replay), Stage("Released", DONE, "", quarantine.released_at)]
    if replay is None:
        return [quarantined, _deciding(decisions), *_ahead()]
    return [quarantined, Stage("Decided", DONE, actions_of(replay)), *of_replay(replay, for_you=for_you)]


def _deciding(decisions: Decided) -> Stage:
    done = decisions.asked - decisions.undecided
    return Stage("Decided", NOW, f"{done} of {decisions.asked} {decisions.what}s, held: apply")


def _ahead() -> list[Stage]:
    return [
        Stage("Approved", LATER, "by another person"),
        Stage("Replaying", LATER, "in order"),
        Stage("Released", LATER, "back to the line"),
    ]


def _past(replay: Replay | None) -> list[Stage]:
    if replay is None:
        return [Stage(name, DONE, "by the consumer itself") for name in ("Decided", "Approved", "Replaying")]
    return [Stage("Decided", DONE, actions_of(replay)), *of_replay(replay)[:2]]


def actions_of(replay: Replay) -> str:
    """`1 amend, 1 skip, 5 apply` of the replay's steps."""
    return said(Counter(Step.objects.filter(replay=replay).values_list("action", flat=True)))


def of_replay(replay: Replay, *, for_you: bool = False) -> list[Stage]:
    """Approved, Replaying and Released as this replay has them. It was read `with_progress`."""
    return [_approved(replay, for_you), _replaying(replay), _released(replay)]


def _approved(replay: Replay, for_you: bool) -> Stage:
    if replay.state == "requested":
        return Stage("Approved", NOW, "waits for you" if for_you else "waits for another person")
    if replay.state in ("rejected", "expired") or (replay.state == "cancelled" and not replay.started_at):
        by = f" by {replay.decided_by_name}" if replay.decided_by_name else ""
        return Stage("Approved", STOPPED, f"{replay.state}{by}")
    return Stage("Approved", DONE, f"by {replay.decided_by_name}")


def _replaying(replay: Replay) -> Stage:
    progress = f"{replay.done} of {replay.total}"  # type: ignore[attr-defined]
    if replay.state == "approved":
        return Stage("Replaying", NOW, replay.waiting_for or "a worker takes it")
    if replay.state in ("running", "paused", "cancelling"):
        word = "" if replay.state == "running" else f"{replay.state}, "
        return Stage("Replaying", NOW, word + progress)
    if replay.state in FINISHED:
        return Stage("Replaying", DONE, progress)
    if replay.started_at:
        return Stage("Replaying", STOPPED, f"{replay.state} at {progress}")
    return Stage("Replaying", LATER, "in order")


def _released(replay: Replay) -> Stage:
    if replay.state == "releasing":
        return Stage("Released", NOW, "asking the consumer" if replay.flow.gated else "waiting for the consumer")
    if replay.state == "completed":
        return Stage("Released", DONE, "", replay.finished_at)
    return Stage("Released", LATER, "back to the line")
