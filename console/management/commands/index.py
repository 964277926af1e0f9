"""`manage.py index`: the words of parked events, behind intake. Any number may run, one works at a time."""

import signal
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from parking.search.follow import Follow


class Command(BaseCommand):
    help = "Fills search behind intake until it is ended (Ctrl-C, TERM)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="index what is stored now, then end")

    def handle(self, *args: Any, **options: Any) -> None:
        follow = Follow()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: follow.stop.set())
        if options["once"]:
            follow.turn()
            while follow.turn():  # builds the indexes of what is new
                pass
        else:
            follow.run()
        self.stdout.write(f"{follow.indexed} events indexed")
