"""Stores a batch and its positions in one transaction (guarantee 1). One bad record never takes its batch with it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog
from django.db import InterfaceError, OperationalError, ProgrammingError, transaction
from django.utils import timezone
from psycopg.errors import DeadlockDetected, RaiseException, SerializationFailure

from parking import days
from parking.ask import array, ask
from parking.intake import positions, retries
from parking.intake.apart import apart
from parking.intake.flows import Flows
from parking.intake.fold import fold
from parking.intake.load import load
from parking.intake.positions import Moved, Partition
from parking.intake.read import Arrived, broken, read
from parking.intake.rows import Place, Row
from parking.intake.write import write

log = structlog.get_logger("intake")

NOT_THE_RECORD = (OperationalError, InterfaceError, ProgrammingError)
"""The database is away, full or not migrated: no record is to blame."""


CROSSED = (DeadlockDetected, SerializationFailure)
"""Two transactions waited for each other and this one was rolled back: it is simply done again."""
TRIES = 3

Pair = tuple[Arrived, Row]

SQL_BY_INDEX = "SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)"
"""Each row that a batch needs is looked up: to join its few thousand rows, the planner would rather read all of a table
of half a million, every time."""
SQL_BEYOND = """
SELECT given.topic_id, given.partition
FROM unnest(%s::bigint[], %s::int[], %s::bigint[]) AS given (topic_id, partition, first)
WHERE EXISTS (
    SELECT FROM parking_parkedrecord r
    WHERE r.topic_id = given.topic_id AND r.partition = given.partition AND r."offset" >= given.first
)
"""
SQL_SEEN = """
SELECT r.topic_id, r.partition, r."offset", r.content FROM parking_parkedrecord r
JOIN unnest(%s::bigint[], %s::int[], %s::bigint[]) AS given (topic_id, partition, at)
    ON r.topic_id = given.topic_id AND r.partition = given.partition AND r."offset" = given.at
"""


class OtherContent(Exception):
    """Coordinates that are stored already came with other bytes: the topic was replaced under the same id."""

    def __init__(self, place: Place) -> None:
        self.place = place
        super().__init__(f"partition {place.partition} offset {place.offset}")


@dataclass(slots=True)
class Stored:
    """`records` of the batch were new; of them `broken` had to be kept raw because the database refused them."""

    records: int = 0
    broken: int = 0

    def add(self, other: "Stored") -> None:
        self.records += other.records
        self.broken += other.broken


def store(arrived: Sequence[Arrived], flows: Mapping[int, Flows], expected: Mapping[Partition, int]) -> Stored:
    """Read records and store them (see `read_all` and `store_read`)."""
    now = timezone.now()
    return store_read(read_all(arrived, flows, now), expected, now)


def read_all(arrived: Sequence[Arrived], flows: Mapping[int, Flows], now: datetime) -> list[Pair]:
    """Each record with the row that it becomes. `flows`: id of the TopicIncarnation → who parks on it. No database."""
    return [(one, read(one, flows[one.topic], now)) for one in arrived]


def store_read(pairs: list[Pair], expected: Mapping[Partition, int], now: datetime) -> Stored:
    """Store records, in order per partition, and move the positions from `expected` past them.

    Raises Moved if another process has read on, OtherContent, or the database's own error where no record is to blame;
    what was stored until then has moved its positions.
    """
    days.ensure(now.date())
    stored = Stored()
    _store(pairs, dict(expected), stored, now)
    return stored


def _store(pairs: list[Pair], expected: dict[Partition, int], stored: Stored, now: datetime) -> None:
    if not pairs:
        return
    moves = _moves([row for _, row in pairs], expected)
    try:
        stored.records += _transaction([row for _, row in pairs], moves, now)
    except Exception as error:
        if not _is_one_record_s(error):
            raise
        if len(pairs) > 1:
            middle = len(pairs) // 2
            _store(pairs[:middle], expected, stored, now)
            _store(pairs[middle:], expected, stored, now)
        else:
            stored.add(_store_alone(*pairs[0], error, moves, now))
    expected.update((place, after) for place, (_, after) in moves.items())


def _store_alone(
    arrived: Arrived, row: Row, error: Exception, moves: dict[Partition, tuple[int, int]], now: datetime
) -> Stored:
    """Once more, since another process may just have stored the same event; then raw."""
    try:
        return Stored(_transaction([row], moves, now))
    except Exception as again:
        if not _is_one_record_s(again):
            raise
        log.warning(
            "a record could not be stored whole and is kept raw",
            flow=row.flow.name,
            reason=type(error).__name__,
            partition=row.place.partition,
            offset=row.place.offset,
            sha256=hashlib.sha256(arrived.record.value or b"").hexdigest(),
        )
        raw = broken(arrived, row.flow, f"Could not be stored whole: {_one_line(error)}", now)
        return Stored(_transaction([raw], moves, now), broken=1)


def _transaction(rows: Sequence[Row], moves: dict[Partition, tuple[int, int]], now: datetime) -> int:
    """Stores what is new of the rows; how many that was. Done again where two transactions waited for each other."""
    for _ in range(TRIES - 1):
        try:
            return _once(rows, moves, now)
        except OperationalError as error:
            if not isinstance(error.__cause__, CROSSED):
                raise
    return _once(rows, moves, now)


def _once(rows: Sequence[Row], moves: dict[Partition, tuple[int, int]], now: datetime) -> int:
    with transaction.atomic():
        ask(SQL_BY_INDEX)
        positions.advance(moves)
        new = _unseen(rows)
        if new:
            new, nowhere = apart(new)
            touched = load(new, nowhere, now)
            fold(new, touched, now)
            write(touched, new, now)
            retries.note(new, now)
            touched.let_go()
    return len(new)


def _moves(rows: Sequence[Row], expected: Mapping[Partition, int]) -> dict[Partition, tuple[int, int]]:
    ends = {row.place[:2]: row.place.offset + 1 for row in rows}
    return {place: (expected[place], end) for place, end in ends.items()}


def _unseen(rows: Sequence[Row]) -> list[Row]:
    """The rows whose coordinates are not stored yet (guarantee 2). The advanced positions keep everybody else away."""
    seen = _seen(rows)
    if not seen:
        return list(rows)
    for row in rows:
        if row.place in seen and seen[row.place] != row.content:
            raise OtherContent(row.place)
    return [row for row in rows if row.place not in seen]


def _seen(rows: Sequence[Row]) -> dict[tuple[int, int, int], bytes]:
    """Those of the places that are stored, with the content: looked for only where something beyond the first is."""
    firsts: dict[Partition, int] = {row.place[:2]: row.place.offset for row in reversed(rows)}
    columns = (array("int8", (topic for topic, _ in firsts)), array("int4", (number for _, number in firsts)))
    partitions = {(topic, number) for topic, number in ask(SQL_BEYOND, *columns, array("int8", firsts.values()))}
    places = [row.place for row in rows if row.place[:2] in partitions]
    if not places:
        return {}
    kinds = ("int8", "int4", "int8")
    found = ask(SQL_SEEN, *(array(kind, [place[part] for place in places]) for part, kind in enumerate(kinds)))
    return {(topic, number, offset): content for topic, number, offset, content in found}


def _is_one_record_s(error: Exception) -> bool:
    """Whether the batch without one of its records could be stored: whatever is not known to have another cause."""
    if isinstance(error, Moved | OtherContent):
        return False
    return not isinstance(error, NOT_THE_RECORD) or isinstance(error.__cause__, RaiseException)


def _one_line(error: Exception) -> str:
    """The database's first line; its details may quote the record."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0] if said else ''}"[:500]
