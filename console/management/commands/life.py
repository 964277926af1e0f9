"""`manage.py life`: writes two weeks of made-up history, for demos, pictures and benchmarks."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from console.demo.life.tell import SOME_EVENTS, tell
from parking.actor import Actor
from parking.errors import Refused
from parking.topics import Unreachable

PEOPLE = ("oncall", "reviewer", "owner")


class Command(BaseCommand):
    help = (
        "Writes two weeks of made-up history of the demo's flows into a database that has none. Only where "
        "SIDING_ENVIRONMENT is demo, or into the database that --database names."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--events", type=int, default=SOME_EVENTS, help="parked events, about (default %(default)s)"
        )
        parser.add_argument("--waiting", type=int, default=0, help="so many more of them are unsettled")
        parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same history")
        parser.add_argument("--database", default="", help="name of the database, where this is no demo")

    def handle(self, *args: Any, **options: Any) -> None:
        name = connection.settings_dict["NAME"]
        if settings.ENVIRONMENT != "demo" and options["database"] != name:
            raise CommandError(
                f"This is {settings.ENVIRONMENT}, not a demo. If the database {name!r} is meant to be filled with "
                f"made-up history, say so: --database {name}"
            )
        try:
            count = tell(
                actors=people(),
                now=timezone.now(),
                seed=options["seed"],
                events=options["events"],
                waiting=options["waiting"],
            )
        except (Refused, Unreachable) as error:
            raise CommandError(str(error)) from error
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        self.stdout.write(f"two weeks of history with {count} parked events")


def people() -> dict[str, Actor]:
    """Those who act in it; who is missing is made, without a password."""
    users = {name: User.objects.get_or_create(username=name)[0] for name in PEOPLE}
    return {name: Actor(f"user:{user.pk}", user.get_full_name() or name) for name, user in users.items()}
