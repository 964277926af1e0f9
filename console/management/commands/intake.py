"""`manage.py intake`: parking topics → store, for ever. As many may run as there are partitions."""

import signal
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand

from parking.intake.loop import Intake


class Command(BaseCommand):
    help = "Reads the parking topics of all flows into the store until it is ended (Ctrl-C, TERM)."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        intake = Intake()

        def end(_number: int, _frame: FrameType | None) -> None:
            intake.stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        intake.run()
