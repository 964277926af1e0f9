"""The daily partitions of what arrived and of its search. Retention drops a day, intake makes the next ones."""

from datetime import UTC, date, datetime, time, timedelta

from django.db import connection, transaction
from django.utils import timezone

TABLES = ("parking_parkedevent", "parking_eventpayload", "parking_eventsearch")
AHEAD = 3
LOCK = 0x51D1_0DA7


def ensure(first: date, ahead: int = AHEAD) -> None:
    """Makes the partitions of `first` and of the days after it, where they are missing."""
    wanted = [first + timedelta(days) for days in range(ahead + 1)]
    missing = [day for day in wanted if not _exists(day)]
    if missing:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])  # two processes at midnight
            for day in missing:
                for table in TABLES:
                    cursor.execute(_statement(table, day))


def today() -> date:
    """The day of the partition that is filled now."""
    return timezone.now().date()


def _exists(day: date) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [f"{TABLES[-1]}_{day:%Y%m%d}"])
        return bool(cursor.fetchone()[0])


def _statement(table: str, day: date) -> str:
    start = datetime.combine(day, time.min, UTC)
    return (
        f"CREATE TABLE IF NOT EXISTS {table}_{day:%Y%m%d} PARTITION OF {table} "
        f"FOR VALUES FROM ('{start.isoformat()}') TO ('{(start + timedelta(1)).isoformat()}')"
    )
