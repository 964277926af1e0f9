"""The ordered events of a plan as rows; a long run of held events that are simply applied becomes one line."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from console.pages.kept import kept
from parking.models import Amendment, EventState, ParkedEvent
from replay.models import Replay, Step
from replay.plan import Plan

FOLD_FROM = 12  # a plan up to this long is shown event by event
KEPT = 3  # of a long run, this many stay visible at its beginning


@dataclass(frozen=True, slots=True)
class Row:
    """One event of a plan. `outcome` is the step's state, empty before the replay starts."""

    ordinal: int
    state: EventState
    action: str
    amendment: Amendment | None
    reason: str
    outcome: str = ""
    outcome_reason: str = ""
    followed: bool = False
    at: datetime | None = None

    @property
    def event(self) -> ParkedEvent:
        return self.state.event

    @property
    def plain(self) -> bool:
        """Held and applied as it is: nothing to look at twice."""
        return self.state.kind == EventState.Kind.HELD and self.action == "apply" and not self.reason


@dataclass(frozen=True, slots=True)
class Line:
    """What the table shows on one line: one row, or a folded run of plain ones."""

    rows: Sequence[Row]

    @property
    def first(self) -> Row:
        return self.rows[0]

    @property
    def last(self) -> Row:
        return self.rows[-1]

    @property
    def folded(self) -> bool:
        return len(self.rows) > 1

    @property
    def names(self) -> str:
        kinds = dict.fromkeys(row.event.event_type or "event" for row in self.rows)
        return ", ".join(kinds)


def of_plan(plan: Plan) -> list[Row]:
    """The rows of a plan that nobody asked for yet: two queries."""
    events = EventState.objects.select_related("event").in_bulk([step.event_state_id for step in plan.steps])
    amendments = Amendment.objects.in_bulk([step.amendment_id for step in plan.steps if step.amendment_id])
    return [
        Row(
            ordinal=step.ordinal,
            state=events[step.event_state_id],
            action=step.action,
            amendment=amendments.get(step.amendment_id or 0),
            reason=step.skip_reason,
        )
        for step in plan.steps
    ]


def of_replay(replay: Replay) -> list[Row]:
    """The rows of a replay, with what became of each: one query."""
    steps = replay.steps.select_related("event_state__event", "amendment").order_by("ordinal")
    return [_row(step, started=replay.started_at is not None) for step in steps]


def _row(step: Step, *, started: bool) -> Row:
    return Row(
        ordinal=step.ordinal,
        state=kept(step.event_state),
        action=step.action,
        amendment=step.amendment,
        reason=step.skip_reason,
        outcome=step.state if started else "",
        outcome_reason=step.reason.removeprefix(f"{step.state}: "),
        followed=step.followed,
        at=step.settled_at or step.sent_at,
    )


def lines(rows: Sequence[Row], *, whole: bool = False) -> list[Line]:
    """One line a row; in a plan of more than 12 events, runs of plain rows with the same outcome are folded."""
    if whole or len(rows) <= FOLD_FROM:
        return [Line([row]) for row in rows]
    return list(_folded(rows))


def _folded(rows: Iterable[Row]) -> Iterator[Line]:
    for (plain, _, _), group in groupby(rows, key=lambda row: (row.plain, row.outcome, row.outcome_reason)):
        run = list(group)
        if not plain or len(run) <= KEPT + 1:
            yield from (Line([row]) for row in run)
        else:
            yield from (Line([row]) for row in run[:KEPT])
            yield Line(run[KEPT:])
