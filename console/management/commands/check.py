"""`manage.py check`: Django's own, and every connection. It says what is wrong, where, and what to do."""

from typing import Any

from django.core.checks import register
from django.core.management.base import CommandParser
from django.core.management.commands import check

from console.checks import clusters, database, installation, mail, queues, registries

SERVERS = (database, queues, clusters, registries, mail)


class Command(check.Command):
    help = (
        "Looks at the code, the settings, and every server: PostgreSQL, Redis, each cluster with the topics of its "
        "flows and its schema registry, and the mail server. Says what is wrong, where, and what to do. Changes "
        "nothing. `--tag connections` looks at the servers alone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--offline", action="store_true", help="ask no server, such as where the code is built")

    def handle(self, *app_labels: Any, **options: Any) -> None:
        register(installation.look, "installation", deploy=True)
        for server in () if options["offline"] else SERVERS:
            register(server.look, "connections", deploy=True)
        super().handle(*app_labels, **{**options, "deploy": True})
