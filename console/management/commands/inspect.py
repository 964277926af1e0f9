"""`manage.py inspect`: how intake would read records. Needs no database."""

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from parking.dialects import Unreadable, identify
from parking.dialects.reading import UNKNOWN, Reading
from parking.malformed import Malformed
from parking.record import Record, from_json_line


class Command(BaseCommand):
    help = (
        "Reads records as JSON lines on standard input (topic, partition, offset, timestamp_ms, key_b64, value_b64, "
        "headers: [[name, b64|null], …]) and prints how intake would read each, one JSON line each."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        bad = 0
        for number, line in enumerate(sys.stdin.buffer, start=1):
            if not line.strip():
                continue
            try:
                self.stdout.write(json.dumps(inspected(from_json_line(line))))
            except Malformed as error:
                bad += 1
                self.stderr.write(f"line {number}: {error}")
        if bad:
            raise CommandError(f"{bad} lines could not be read as records; the others are printed.")


def inspected(record: Record) -> dict[str, Any]:
    """The reading as JSON members; `unreadable` says why intake would keep the record raw."""
    try:
        return {**identify(record).shown(), "unreadable": None}
    except Unreadable as error:
        reading = Reading(error.framework, UNKNOWN, str(record.coordinates))
        return {**reading.shown(), "unreadable": str(error)}
