"""`manage.py grant NAME FLOW ROLE`: accounts, and what they may do."""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from console import access
from console.grant import grant, revoke
from parking.actor import system
from parking.errors import Refused
from parking.models import Flow


class Command(BaseCommand):
    help = (
        f"Gives a person a role for a flow: {', '.join(access.ROLES)}. Several roles add up; nobody approves what is "
        "their own. An account that is not there is made; set its password by `manage.py changepassword NAME`."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="of the account")
        parser.add_argument("flow", help="name of the flow, or `all` for every flow that is declared now")
        parser.add_argument("role")
        parser.add_argument("--revoke", action="store_true", help="take the role away")
        parser.add_argument("--reason", default="", help="for the journal")

    def handle(self, *args: Any, **options: Any) -> None:
        verb = revoke if options["revoke"] else grant
        given = {"role": options["role"], "actor": system("grant command"), "reason": options["reason"]}
        try:
            with transaction.atomic():
                flows = _flows(options["flow"])
                user = _user(options["name"], make=not options["revoke"])
                done = [flow for flow in flows if verb(user=user, flow=flow, **given)]
        except Refused as error:
            raise CommandError(str(error)) from error
        names = ", ".join(flow.name for flow in done)
        word = "is no longer" if options["revoke"] else "is"
        self.stdout.write(f"{user} {word} {options['role']} of {names}" if done else "everything is so already")
        if not user.has_usable_password():
            self.stdout.write(f"{user} cannot sign in yet: run `manage.py changepassword {user}`")


def _flows(name: str) -> list[Flow]:
    flows = list(Flow.objects.all() if name == "all" else Flow.objects.filter(name=name))
    if not flows:
        known = ", ".join(Flow.objects.values_list("name", flat=True))
        raise Refused(f"There is no flow {name!r}. There are: {known or 'none; declare one by `manage.py flows`'}.")
    return flows


def _user(name: str, *, make: bool) -> User:
    found = User.objects.filter(username=name).first()
    if found is None and not make:
        raise Refused(f"There is no account {name!r}.")
    if found is None:
        found = User(username=name)
        found.set_unusable_password()
        try:
            found.full_clean()
        except ValidationError as error:
            raise Refused(" ".join(error.messages)) from error
        found.save()
    return found
