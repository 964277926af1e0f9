"""The daily partitions of what arrived and of its search. Retention drops a day, intake makes the next ones."""

from datetime import UTC, date, datetime, time, timedelta

from django.db import connection, transaction
from django.utils import timezone

SEARCH, PAYLOAD = "parking_eventsearch", "parking_eventpayload"
TABLES = ("parking_parkedevent", PAYLOAD, SEARCH)
FURTHER = {
    SEARCH: " PARTITION BY RANGE (id)",  # see parking/search/segments.py
    PAYLOAD: " WITH (toast_tuple_target = 4080)",  # half a page: compressing took longer than writing
}
AHEAD = 3
LOCK = 0x51D1_0DA7


def ensure(first: date, ahead: int = AHEAD) -> None:
    """Makes the partitions of `first` and of the days after it, where they are missing."""
    wanted = [first + timedelta(days) for days in range(ahead + 1)]
    missing = _missing(wanted)
    if missing:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])  # two processes at midnight
            for day in missing:
                for table in TABLES:
                    cursor.execute(_statement(table, day))


def today() -> date:
    """The day of the partition that is filled now."""
    return timezone.now().date()


def _missing(days: list[date]) -> list[date]:
    with connection.cursor() as cursor:
        names = [f"{TABLES[-1]}_{day:%Y%m%d}" for day in days]
        cursor.execute("SELECT to_regclass(name) IS NOT NULL FROM unnest(%s::text[]) AS wanted (name)", [names])
        return [day for day, (there,) in zip(days, cursor.fetchall(), strict=True) if not there]


def _statement(table: str, day: date) -> str:
    start, end = bounds(day)
    return (
        f"CREATE TABLE IF NOT EXISTS {table}_{day:%Y%m%d} PARTITION OF {table} "
        f"FOR VALUES FROM ('{start.isoformat()}') TO ('{end.isoformat()}')"
        f"{FURTHER.get(table, '')}"
    )


def existing() -> list[date]:
    """The days that have partitions, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT substring(c.relname FROM '\\d{8}$') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
            "WHERE i.inhparent = %s::regclass ORDER BY 1",
            [TABLES[0]],
        )
        return [datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC).date() for (day,) in cursor.fetchall() if day]


def bounds(day: date) -> tuple[datetime, datetime]:
    """The first moment of a day and that of the next one."""
    start = datetime.combine(day, time.min, UTC)
    return start, start + timedelta(1)


def drop(day: date) -> None:
    """Drops the partitions of a day. Locks the tables until the caller's transaction ends."""
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"DROP TABLE IF EXISTS {table}_{day:%Y%m%d}")
