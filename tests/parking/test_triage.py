"""What people say of an error group, and when an event opens it again."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from parking.actor import Actor
from parking.attempt import Attempt
from parking.errors import Conflict, Refused
from parking.models import ErrorGroup, JournalEntry, Triage
from parking.models.triage import of
from parking.triage import triage
from parking.wire.outcome import Outcome, encode
from tests.console import story

ANNA, BELA = Actor("user:1", "Anna One"), Actor("user:2", "Bela Two")
DAY = timedelta(days=1)


@pytest.fixture
def lot(db, kafka) -> story.Lot:
    return story.Lot(story.make_flow("disputes", bootstrap=kafka))


@pytest.fixture
def group(lot) -> ErrorGroup:
    story.simple_key(lot, b"k-1", ago=60, error=("Broken", "row 1 is bad"))
    return ErrorGroup.objects.get(error_type="Broken")


def say(group: ErrorGroup, status: str = "open", seen: str | None = None, **given) -> Triage:
    given = {"owner": None, "note": "", "actor": ANNA, "reason": "because"} | given
    return triage(error_group_id=group.pk, status=status, seen=now(group).seen if seen is None else seen, **given)


def now(group: ErrorGroup) -> Triage:
    return of(ErrorGroup.objects.select_related("triage").get(pk=group.pk))


def another(lot: story.Lot, group: ErrorGroup, *, ago: timedelta = timedelta(0)) -> None:
    """Another event of the group, by intake's own code; `ago` puts back when it was seen."""
    story.simple_key(lot, f"other-{lot.next}".encode(), ago=0, error=("Broken", "row 2 is bad"))
    if ago:
        ErrorGroup.objects.filter(pk=group.pk).update(last_seen=timezone.now() - ago)


def test_nobody_has_said_anything(group):
    said = now(group)
    assert (said.standing, said.owner_name, said.seen, said.came_back) == ("open", "", "0", False)


def test_what_is_said_is_kept_and_journalled(group):
    say(group, "acknowledged", owner=BELA, note=" ask the\r\nledger team ", reason="saw it on call")
    said = now(group)
    assert (said.standing, said.owner_id, said.owner_name, said.note) == (
        "acknowledged",
        "user:2",
        "Bela Two",
        "ask the\nledger team",
    )
    entry = JournalEntry.objects.get(verb="triage")
    assert (entry.actor_name, entry.reason, entry.flow) == ("Anna One", "saw it on call", group.flow)
    assert entry.detail == {
        "error": group.pk,
        "status": "acknowledged",
        "owner_id": "user:2",
        "owner_name": "Bela Two",
        "note": "ask the\nledger team",
    }


def test_what_is_resolved_comes_back_with_the_next_event(lot, group):
    say(group, "resolved", version="1.4.0")
    assert now(group).standing == "resolved"
    another(lot, group)
    said = now(group)
    assert (said.came_back, said.standing, said.version) == (True, "open", "1.4.0")


def test_what_is_resolved_comes_back_when_one_of_its_events_fails_like_that_again(lot, group):
    """A replay after the repair that fails with the same error: no other event comes to the group."""
    say(group, "resolved", version="1.4.0")
    failed = Outcome(
        "failed", lot.flow.name, b"k-1", event_id="k-1-1", token=7,
        attempts=(Attempt(1, story.ms(0), "Broken", "row 1 is bad", "Broken: row 1 is bad", (), False),),
    )  # fmt: skip
    lot.take([(encode(failed), 0)])
    assert now(group).came_back
    assert [day.events for day in group.days.all()] == [1]
    before = now(group).error_group.last_seen
    lot.take([(encode(failed), 0)])
    assert now(group).error_group.last_seen == before, "the same record once more is nothing new"


def test_what_is_ignored_comes_back_with_the_first_event_after_the_date(lot, group):
    say(group, "ignored", until=timezone.now() + DAY)
    another(lot, group)
    assert now(group).standing == "ignored"
    Triage.objects.update(opens_after=timezone.now() - DAY)
    ErrorGroup.objects.update(last_seen=timezone.now() - 2 * DAY)
    assert now(group).standing == "ignored"  # the date is over, and nothing has come since
    another(lot, group)
    assert now(group).came_back


def test_what_came_back_is_resolved_anew_in_the_same_version(lot, group):
    say(group, "resolved", version="1.4.0")
    another(lot, group)
    say(group, "resolved", version="1.4.0", reason="that one was an old instance")
    assert now(group).standing == "resolved"
    assert JournalEntry.objects.filter(verb="triage").count() == 2
    assert JournalEntry.objects.latest("pk").detail["version"] == "1.4.0"


def test_a_new_note_does_not_move_the_resolution(lot, group):
    at = say(group, "resolved", version="1.4.0").opens_after
    say(group, "resolved", version="1.4.0", note="a library of ours")
    assert now(group).opens_after == at


def test_somebody_was_faster(group):
    say(group, "resolved", version="1.4.0", owner=BELA, actor=BELA)
    with pytest.raises(Conflict, match=r"Bela Two was faster, at 20.*: resolved in 1\.4\.0, owner: Bela Two") as told:
        say(group, "acknowledged", seen="0")
    assert (told.value.who, told.value.at) == ("Bela Two", now(group).at)
    assert now(group).standing == "resolved"
    say(group, "acknowledged", seen=now(group).seen)
    assert now(group).standing == "acknowledged"


def test_nobody_resolves_again_what_came_back_unseen(lot, group):
    seen = say(group, "resolved", version="1.4.0").seen
    another(lot, group)
    with pytest.raises(Conflict, match="It came back meanwhile: another event arrived at"):
        say(group, "resolved", version="1.4.0", note="quiet now", seen=seen)
    assert now(group).came_back


def test_the_same_said_twice_is_said_once(group):
    say(group, "acknowledged", owner=ANNA, seen="0")
    say(group, "acknowledged", owner=ANNA, seen="0")
    assert now(group).revision == 1
    assert JournalEntry.objects.filter(verb="triage").count() == 1


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"status": "gone"}, "status: open, acknowledged, ignored, resolved was expected"),
        ({"status": "ignored"}, "a date in the future was expected"),
        ({"status": "ignored", "until": timezone.now() - DAY}, "a date in the future was expected"),
        ({"status": "ignored", "until": timezone.now() + 400 * DAY}, "at most a year"),
        ({"status": "resolved", "version": " "}, "the version that has the repair was expected"),
        ({"status": "resolved", "version": "1" * 101}, "at most 100 characters"),
        ({"status": "resolved", "version": "1\0"}, "the version that has the repair was expected"),
        ({"status": "resolved", "version": "1", "reason": " "}, "write what was done about it"),
        ({"status": "ignored", "until": timezone.now() + DAY, "reason": ""}, "write why nobody needs to look"),
        ({"note": "n" * 2001}, r"2001 characters.*in the note"),
        ({"note": "\0"}, "no text"),
    ],
)
def test_what_cannot_be_said(group, given, why):
    with pytest.raises(Refused, match=why), transaction.atomic():
        say(group, **given)
    assert not Triage.objects.exists()
    assert not JournalEntry.objects.filter(verb="triage").exists()
