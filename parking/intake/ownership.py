"""Several intake processes share the partitions: each takes its part, by session locks of the database.

A lock is only good manners: what keeps a process that lost it from doing harm is the compare-and-swap of positions.
"""

from collections.abc import Iterable
from datetime import timedelta
from math import ceil

from django.db import connection
from django.utils import timezone

from parking.models import Beat

PROCESS = "intake"
SILENT = timedelta(seconds=15)
CLASS = 0x51D1


def share(partitions: int) -> int:
    """How many of so many partitions this process should have."""
    living = Beat.objects.filter(process=PROCESS, at__gt=timezone.now() - SILENT).count()
    return ceil(partitions / max(living, 1))


def take(position_id: int) -> bool:
    """Take a partition, by the id of its IntakePosition, unless another process has it. Never waits."""
    return _call("pg_try_advisory_lock", position_id)


def give(position_ids: Iterable[int]) -> None:
    """Leave partitions to others."""
    for position_id in position_ids:
        _call("pg_advisory_unlock", position_id)


def _call(function: str, position_id: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, %s)", [CLASS, position_id % 2**31])
        return bool(cursor.fetchone()[0])
