"""`manage.py flows`: a file says what is so; saying it again changes nothing; what is wrong is named."""

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from parking.models import AlarmRule, Cluster, Flow, JournalEntry, Team

pytestmark = pytest.mark.django_db

GOOD = """
[[cluster]]
name = "main"
bootstrap_servers = "kafka:9092"

[[team]]
name = "ledger"

[[flow]]
name = "payments"
cluster = "main"
team = "ledger"
source_topic = "payments"
consumer_group = "payments-service"
parking_topic = "payments-parking"
replay_topic = "payments-replay"
runbook = "https://runbooks.example/payments"
key_rule = "json:account.id"
window = 5
"""


@pytest.fixture
def declare(tmp_path):
    def run(text: str) -> str:
        path = tmp_path / "flows.toml"
        path.write_text(text)
        out = StringIO()
        call_command("flows", str(path), stdout=out)
        return out.getvalue()

    return run


def test_it_makes_what_is_not_there(declare):
    assert declare(GOOD).splitlines() == ["cluster main: made", "team ledger: made", "flow payments: made"]
    flow = Flow.objects.get()
    assert (flow.cluster.name, flow.team.name, flow.window, flow.key_rule) == ("main", "ledger", 5, "json:account.id")
    assert [e.verb for e in JournalEntry.objects.all()] == ["declare"] * 3
    assert AlarmRule.objects.exists()


def test_saying_it_again_changes_nothing(declare):
    declare(GOOD)
    assert declare(GOOD) == "everything is so already\n"
    assert JournalEntry.objects.count() == 3


def test_what_differs_is_changed_and_what_is_not_said_is_left_alone(declare):
    declare(GOOD)
    Flow.objects.update(pace_per_second=7)
    assert declare(GOOD.replace("window = 5", "window = 6")) == "flow payments: changed window\n"
    assert (Flow.objects.get().window, Flow.objects.get().pace_per_second) == (6, 7)
    assert "changed window" in JournalEntry.objects.get(flow__isnull=False, reason__contains="changed").reason


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('team = "ledger"\nsource', 'team = "nobody"\nsource', "flow payments: team: there is no team named 'nobody'"),
        ("window = 5", "windows = 5", "flow payments: windows: no such field; there are name, cluster"),
        ("window = 5", 'window = "many"', "flow payments: window: “many” value must be an integer."),
        ("json:account.id", "xml:a", "key rule: expected raw, prefix or json:<path>"),
        ('replay_topic = "payments-replay"\n', "", "flow payments: "),
        ('consumer_group = "payments-service"\n', "", "flow payments: consumer_group: This field cannot be blank."),
        ("https://runbooks.example/payments", "here", "flow payments: runbook: Enter a valid URL."),
        ('name = "payments"', "name = 7", "name: a text was expected, 7 arrived"),
        ("[[flow]]", "[[flows]]", "[[cluster]], [[team]] and [[flow]] were expected"),
        ("[[flow]]", "[flow]", "[[cluster]], [[team]] and [[flow]] were expected"),
        ("[[flow]]", "[[flow]", "not TOML"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_changed(declare, old, new, says):
    assert old in GOOD
    with pytest.raises(CommandError) as error:
        declare(GOOD.replace(old, new))
    assert says in str(error.value)
    assert Cluster.objects.count() == Team.objects.count() == Flow.objects.count() == 0


def test_a_file_that_is_not_there():
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("flows", "/nowhere/flows.toml")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ('parking_topic = "^payments.*"', "is a pattern"),
        ('more_parking_topics = ["^x("]', "a pattern that RE2 reads was expected"),
        ('more_parking_topics = ["a b"]', "letters, digits"),
        ('more_parking_topics = "payments.DLT"', "a list such as"),
        ('more_parking_topics = ["^paym.*"]', "'payments' is among them, which the flow reads or is replayed to"),
        ('more_parking_topics = ["payments-replay"]', "is among them"),
    ],
)
def test_parking_topics_that_cannot_be(declare, change, says):
    name = change.partition(" ")[0]
    text = "\n".join(line for line in GOOD.splitlines() if not line.startswith(f"{name} "))
    with pytest.raises(CommandError, match="flow payments: .*" + re.escape(says)):
        declare(f"{text}\n{change}\n")
    assert not Flow.objects.exists()
