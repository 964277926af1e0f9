"""`manage.py flows FILE.toml`: declares clusters, teams and flows."""

import tomllib
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from parking.actor import system
from parking.declare import declare
from parking.errors import Refused

TABLES = ("cluster", "team", "flow")


class Command(BaseCommand):
    help = (
        "Declares what a TOML file says: [[cluster]] name, bootstrap_servers, settings; [[team]] name; [[flow]] name, "
        "cluster, team, source_topic, consumer_group, parking_topic, replay_topic and the other fields of a flow. "
        "What is so already is left alone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        given = _read(options["file"])
        try:
            done = declare(
                clusters=given["cluster"], teams=given["team"], flows=given["flow"], actor=system("flows command")
            )
        except Refused as error:
            raise CommandError(f"{options['file']}: nothing was changed.\n{error}") from error
        except OperationalError as error:
            said = " ".join(str(error).split())
            raise CommandError(f"The database cannot be used: {said}. Check SIDING_DATABASE_URL.") from error
        for line in done or ["everything is so already"]:
            self.stdout.write(line)


def _read(path: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror}).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: not TOML: {error}.") from error
    for name, value in given.items():
        if name not in TABLES or not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise CommandError(f"{path}: {name}: [[cluster]], [[team]] and [[flow]] were expected.")
    return {name: given.get(name, []) for name in TABLES}
