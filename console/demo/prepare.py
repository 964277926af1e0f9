"""Brings the console's database up to date, declares the flows, makes the accounts, tells a history.

`… prepare FOLDER [--life]`: two weeks of history only with `--life`, and only where nothing was parked before.
"""

import os
import sys
import tempfile
from pathlib import Path
from string import Template

import django

from console.demo.place import Place

FLOWS = Path(__file__).parent / "disputes/flows.toml"
PLAIN_FLOWS = Path(__file__).parent / "plain/flows.toml"
LIFE = "--life"
ROLES = {"oncall": "operator", "reviewer": "reviewer", "owner": "owner"}
NAMES = {"oncall": "On-call engineer", "reviewer": "Reviewer", "owner": "Flow owner"}


def migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)


def declare_flows(bootstrap: str) -> None:
    """The same way as for any other service: `manage.py flows FILE`."""
    from django.core.management import call_command

    for flows in (FLOWS, PLAIN_FLOWS):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(Template(flows.read_text()).safe_substitute(bootstrap_servers=bootstrap))
            file.flush()
            call_command("flows", file.name)


def make_accounts(passwords: dict[str, str]) -> None:
    """One account for each role in every flow, with the passwords given; who is there already keeps the session."""
    from django.contrib.auth.models import User

    from console.models import Grant
    from parking.models import Flow

    for name, password in passwords.items():
        user, _ = User.objects.get_or_create(username=name)
        user.first_name = NAMES[name]
        if not user.check_password(password):
            user.set_password(password)
        user.save()
        for flow in Flow.objects.all():
            Grant.objects.get_or_create(user=user, flow=flow, role=ROLES[name])


def tell_life() -> None:
    """Two weeks of history, on the first start. A demo without one is a demo, too: what is wrong with it is said."""
    from django.core.management import CommandError, call_command

    from console.demo.life.arrivals import begun
    from parking.models import Flow

    if begun(Flow.objects.all()):
        return
    print("writing two weeks of history", flush=True)
    try:
        call_command("life", verbosity=0)
    except CommandError as error:
        print(f"there is no history: {error}\n", flush=True)


def main() -> None:
    place = Place(Path(sys.argv[1]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    django.setup()
    from django.conf import settings
    from django.core.management import CommandError
    from django.db import Error

    try:
        print("bringing the database up to date", flush=True)
        migrate()
        print("declaring the flows", flush=True)
        declare_flows(settings.KAFKA_BOOTSTRAP_SERVERS)
        print("making the accounts", flush=True)
        make_accounts(place.passwords())
        if LIFE in sys.argv:
            tell_life()
    except (CommandError, Error) as error:
        sys.exit(str(error).strip())


if __name__ == "__main__":
    main()
