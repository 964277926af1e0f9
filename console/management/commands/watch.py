"""`manage.py watch`: alarms, deadlines, recovery of stuck replays, heartbeat. Any number may run, one works."""

import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from console.notifications import dispatch
from parking.alarms import evaluate
from replay.watch import Watch


class Command(BaseCommand):
    help = "Alarms, deadlines, and replays that nobody drives. Any number may run, one works."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="one round, then end")

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        watch = Watch(first=(evaluate, dispatch))
        watch.once()
        while not options["once"] and not stop.wait(settings.WATCH_INTERVAL_SECONDS):
            watch.once()
        watch.close()
