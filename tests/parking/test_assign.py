"""Who is on a key: one person, journalled, and nobody is overwritten unseen."""

import pytest

from parking.actor import Actor
from parking.assign import assign
from parking.errors import Conflict, Refused
from parking.models import JournalEntry, Quarantine
from tests.alarm_story import Lot, make_flow, stop

ANNA, BERT = Actor("user:1", "Anna One"), Actor("user:2", "Bert Two")


@pytest.fixture
def key(db):
    return stop(Lot(make_flow("orders")))


def test_a_key_is_assigned_taken_over_and_left(key):
    assert assign(quarantine_id=key.pk, to=ANNA, actor=ANNA, seen="").assignee_name == "Anna One"
    assert assign(quarantine_id=key.pk, to=BERT, actor=BERT, seen="user:1").assignee_id == "user:2"
    assert assign(quarantine_id=key.pk, to=None, actor=BERT, seen="user:2").assignee_id == ""
    told = JournalEntry.objects.filter(verb="assign", quarantine_id=key.pk).order_by("id")
    assert [(entry.actor_name, entry.detail["to"]) for entry in told] == [
        ("Anna One", "Anna One"),
        ("Bert Two", "Bert Two"),
        ("Bert Two", ""),
    ]


def test_who_was_faster_is_named_and_stays(key):
    assign(quarantine_id=key.pk, to=ANNA, actor=ANNA, seen="")
    with pytest.raises(Conflict, match="Anna One by now"):
        assign(quarantine_id=key.pk, to=BERT, actor=BERT, seen="")
    assert Quarantine.objects.get(pk=key.pk).assignee_id == "user:1"


def test_assigning_twice_changes_and_journals_nothing(key):
    for _ in range(2):
        assign(quarantine_id=key.pk, to=ANNA, actor=ANNA, seen="")
    assert JournalEntry.objects.filter(verb="assign").count() == 1


def test_a_key_that_is_back_on_the_line_has_nobody_on_it(key):
    Quarantine.objects.filter(pk=key.pk).update(state="released", poison=0, held=0, released_at=key.opened_at)
    with pytest.raises(Refused, match="back on the line"):
        assign(quarantine_id=key.pk, to=ANNA, actor=ANNA, seen="")
