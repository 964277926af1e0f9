"""One walk through the days, newest first, under a time limit. `find` says why it goes like this."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, Self

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from parking import days
from parking.models import IndexPosition
from parking.search import common
from parking.search.grammar import Query
from parking.search.question import NOTHING_SHARED, Condition, Scope, Shared, condition, indexed, numbers

COUNTED = 1000
FIRST_WINDOW, LARGEST_WINDOW = 2000, 32_000
PIECE = 100_000
"""Events of days that are asked together: a day with few costs no statement of its own."""
SECONDS = 2.0
TOP = 2**63 - 1

# Rare words look common to the planner, so it is not asked whether to use the index; and a plan is made for each
# question, whatever the connection does with statements that repeat.
SETTINGS = f"""
SET LOCAL statement_timeout = {int(SECONDS * 1000)};
SET LOCAL enable_seqscan = off;
SET LOCAL jit = off;
SET LOCAL max_parallel_workers_per_gather = 0;
SET LOCAL plan_cache_mode = force_custom_plan
"""
# The segments that have an index of their words, then the open ones, which are read row by row (`segments`).
# `id + 0`: the index of the words is to be used, not that of the ids.
SQL_PROBE = """
WITH found AS MATERIALIZED (
    (SELECT id, stored_at FROM parking_eventsearch WHERE id < %s AND {when} AND ({indexed}) LIMIT {most})
    UNION ALL
    (SELECT id, stored_at FROM parking_eventsearch WHERE id >= %s AND {when} AND ({wanted}) LIMIT {most})
)
SELECT (stored_at AT TIME ZONE 'UTC')::date AS day, id FROM found ORDER BY day DESC, id DESC LIMIT {most}
"""
WHEN = "stored_at >= %s AND stored_at < %s AND (stored_at < %s OR id + 0 < %s)"
SQL_WINDOW = """
WITH walked AS MATERIALIZED (
    SELECT id, ({wanted}) AS found FROM (
        SELECT * FROM parking_eventsearch WHERE stored_at >= %s AND stored_at < %s AND id < %s ORDER BY id DESC LIMIT %s
    ) AS newest
)
SELECT (SELECT min(id) FROM walked), ARRAY(SELECT id FROM walked WHERE found ORDER BY id DESC)
"""


@dataclass(frozen=True, slots=True)
class Count:
    """`number` is exact, or the least that there is: "12", "1 000+"."""

    number: int
    exact: bool

    def __str__(self) -> str:
        return f"{self.number:,}".replace(",", "\u202f") + ("" if self.exact else "+")


class Place(NamedTuple):
    """An event in the order of the search: its day, then its id. As text it stands in a URL."""

    day: date
    id: int

    def __str__(self) -> str:
        return f"{self.day:%Y%m%d}.{self.id}"

    @classmethod
    def read(cls, text: str) -> Self | None:
        """A place from a URL; None for any other text."""
        day, _, number = text.partition(".")
        if not (day.isascii() and day.isdecimal() and len(day) == 8 and number.isascii() and number.isdecimal()):
            return None
        try:
            return cls(datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC).date(), min(int(number[:19]), TOP))
        except ValueError:
            return None


class Day(NamedTuple):
    """A day that has events of these flows, and how many."""

    day: date
    scopes: Sequence[Scope]
    events: int


def pieces(of_days: Sequence[Day]) -> Iterator[list[Day]]:
    """Days in their order, as many together as have few events."""
    piece: list[Day] = []
    for day in of_days:
        if piece and sum(one.events for one in piece) + day.events > PIECE:
            yield piece
            piece = []
        piece.append(day)
    if piece:
        yield piece


class _TimeIsUp(Exception):
    """The answer is what was found until now."""


class Walk:
    """`go` fills the rest: at most `size` places below `start`, where to go on, and how many there are in all.

    `stopped_at` is the day in which the time was up before the page was full.
    """

    def __init__(self, query: Query, of_days: Sequence[Day], start: Place | None, size: int) -> None:
        self._query, self._days, self._start, self._size = query, of_days, start, size
        self._until = time.monotonic() + SECONDS
        self._at: Place | None = start
        self._counted, self._all_counted = 0, False
        self._open = 0
        self.found: list[Place] = []
        self.next: Place | None = None
        self.stopped_at: date | None = None

    @property
    def count(self) -> Count:
        return Count(min(self._counted, COUNTED), self._all_counted and self._counted <= COUNTED)

    def go(self) -> None:
        try:
            with _read_only():
                self._open = IndexPosition.objects.values_list("open_id", flat=True).first() or 0
                for piece in pieces(self._days):
                    if self._full and (self._start or self._counted > COUNTED):
                        break
                    self._counted += self._look(piece)
            self._all_counted = True
        except _TimeIsUp:
            self.stopped_at = self._at.day if self._at and not self._full else None
        self.next = self.found[self._size - 1] if self._full else self._at if self.stopped_at else None
        del self.found[self._size :]

    @property
    def _full(self) -> bool:
        """One more than the page has was found, so there is a next page."""
        return len(self.found) > self._size

    def _look(self, piece: Sequence[Day]) -> int:
        """Takes what there is, newest first, if the page is not full; how many there are, or one more than counted."""
        newest = piece[0].day
        below = self._start.id if self._start and self._start.day == newest else TOP
        if not self._full:
            self._at = Place(newest, below)
        scopes = list({scope.flow: scope for day in piece for scope in day.scopes}.values())
        shared = self._shared(piece, scopes)
        wanted = condition(self._query, scopes, shared)
        found = self._probe(piece, below, indexed(self._query, scopes, shared), wanted)
        if len(found) <= COUNTED:
            self._take(found)
        elif len(piece) == 1:
            self._look_in_windows(newest, below, wanted)
        else:
            self._look_at_each(piece)
        return len(found)

    def _probe(self, piece: Sequence[Day], below: int, sorted_in: Condition, wanted: Condition) -> list[Place]:
        """At most one more than counted, newest first."""
        (start, _), (newest_start, end) = days.bounds(piece[-1].day), days.bounds(piece[0].day)
        when = [self._open, start, end, newest_start, below]
        sql = SQL_PROBE.format(when=WHEN, indexed=sorted_in.sql, wanted=wanted.sql, most=COUNTED + 1)
        return [Place(*row) for row in self._ask(sql, [*when, *sorted_in.parameters, *when, *wanted.parameters])]

    def _shared(self, piece: Sequence[Day], scopes: Sequence[Scope]) -> Shared:
        """Words may have numbers that stand for them on these days."""
        words = [number for scope in scopes for number in numbers(self._query, scope)]
        if not words:
            return NOTHING_SHARED
        return common.holding(self._ask(common.SQL_HOLDING, [[day.day for day in piece], words]), words)

    def _look_at_each(self, piece: Sequence[Day]) -> None:
        for day in piece:
            if self._full:
                break
            self._look([day])

    def _look_in_windows(self, day: date, below: int, wanted: Condition) -> None:
        sql, window = SQL_WINDOW.format(wanted=wanted.sql), FIRST_WINDOW
        while not self._full:
            ((lowest, ids),) = self._ask(sql, [*wanted.parameters, *days.bounds(day), below, window])
            self._take([Place(day, number) for number in ids])
            if lowest is None:
                return
            below, window = lowest, min(2 * window, LARGEST_WINDOW)
            self._at = Place(day, below)

    def _take(self, found: Sequence[Place]) -> None:
        self.found += found[: self._size + 1 - len(self.found)]

    def _ask(self, sql: str, parameters: Sequence[Any]) -> list[Any]:
        if time.monotonic() > self._until:
            raise _TimeIsUp
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql, parameters)
                rows: list[Any] = cursor.fetchall()
                return rows
        except OperationalError as error:
            if isinstance(error.__cause__, QueryCanceled):
                raise _TimeIsUp from error
            raise


@contextmanager
def _read_only() -> Iterator[None]:
    """A transaction that is always rolled back, and the settings with it, even inside another one."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(SETTINGS)
        yield
        transaction.set_rollback(True)
