"""`manage.py grant`: an account gets its role, journalled, once; what is wrong is named and changes nothing."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from console import access
from console.access import Permission
from console.models import Grant
from parking.models import JournalEntry
from tests.console.story import make_flow

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("grant", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def flow():
    return make_flow("orders")


def test_it_makes_the_account_and_gives_the_role(flow):
    assert run("ines", "orders", "operator").splitlines() == [
        "ines is operator of orders",
        "ines cannot sign in yet: run `manage.py changepassword ines`",
    ]
    user = User.objects.get(username="ines")
    assert access.of(user).may(flow.pk, Permission.AMEND)
    assert not access.of(user).may(flow.pk, Permission.APPROVE)
    entry = JournalEntry.objects.get()
    assert (entry.verb, entry.flow, entry.reason) == ("grant", flow, "ines: operator")


def test_saying_it_again_changes_nothing(flow):
    User.objects.create_user("ines", password="long enough to sign in")
    run("ines", "orders", "viewer")
    assert run("ines", "orders", "viewer") == "everything is so already\n"
    assert JournalEntry.objects.count() == 1


def test_it_is_taken_away(flow):
    run("ines", "orders", "owner")
    run("ines", "orders", "owner", "--revoke", "--reason", "left the team")
    assert not Grant.objects.exists()
    assert [e.reason for e in JournalEntry.objects.order_by("id")] == ["ines: owner", "ines: owner. left the team"]


def test_for_every_flow(flow):
    make_flow("invoices")
    make_flow("shipments")
    run("ines", "all", "reviewer")
    assert Grant.objects.filter(role="reviewer").count() == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ines", "order", "owner"), "There is no flow 'order'. There are: orders."),
        (
            ("ines", "orders", "admin"),
            "One of the roles viewer, operator, reviewer, owner was expected, 'admin' arrived",
        ),
        (("ines", "orders", "owner", "--revoke"), "There is no account 'ines'."),
        (("i nes\n", "orders", "owner"), "Enter a valid username"),
    ],
)
def test_what_is_wrong_is_named(flow, arguments, said):
    with pytest.raises(CommandError, match=said.replace(".", r"\.")):
        run(*arguments)
    assert not User.objects.exists()
    assert not JournalEntry.objects.exists()
