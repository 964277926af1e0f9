"""How far a replay is, in numbers and as a bar."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from console.pages.plan_rows import Row
from replay.models import Replay

STOPPED = ("failed", "fenced", "conflict", "unconfirmed")


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of steps; `rate` is steps a second, `left` the time to go, `took` the whole.

    None stands where nothing can be told yet. The bar is 1000 units wide.
    """

    done: int
    moving: int
    wrong: int
    to_go: int
    total: int
    rate: float | None
    left: timedelta | None
    took: timedelta | None

    @property
    def done_width(self) -> int:
        return 1000 * self.done // self.total if self.total else 1000

    @property
    def moving_width(self) -> int:
        return 1000 * self.moving // self.total if self.total else 0

    @property
    def wrong_width(self) -> int:
        return max(8, 1000 * self.wrong // self.total) if self.wrong else 0

    @property
    def moving_from(self) -> int:
        return self.done_width + self.wrong_width


def progress(replay: Replay, rows: Sequence[Row]) -> Progress:
    """The counts of a replay whose rows were read."""
    outcomes = [row.outcome for row in rows]
    done = sum(outcome in ("applied", "duplicate", "skipped", "held") for outcome in outcomes)
    moving, wrong = outcomes.count("in_flight"), sum(outcome in STOPPED for outcome in outcomes)
    to_go = len(rows) - done - moving - wrong
    rate = _rate(replay, done)
    left = timedelta(seconds=(to_go + moving) / rate) if rate and replay.living else None
    took = replay.finished_at - replay.started_at if replay.finished_at and replay.started_at else None
    return Progress(done, moving, wrong, to_go, len(rows), rate, left, took)


def _rate(replay: Replay, done: int) -> float | None:
    if replay.started_at is None or not done:
        return None
    seconds = ((replay.finished_at or timezone.now()) - replay.started_at).total_seconds()
    return done / seconds if seconds > 0 else None
