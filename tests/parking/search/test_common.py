"""Words that many events have in common are indexed once for all, and each event is found by them all the same."""

import pytest
from django.db import transaction

from parking.models import EventSearch, EventState
from parking.models.search import CommonWords
from parking.search import entries, kinds, position

pytestmark = pytest.mark.usefixtures("segment")

HEADERS = (("event-type", b"OrderPlaced"), ("x-shop", b"north"), ("x-tenant", b"seven"))
VALUE = '{"order": "ord-%d", "currency": "EUR", "note": "a part that fits in its usual box", "colour": "%s"}'


@pytest.fixture
def crowd(shelf, monkeypatch):
    """Twelve events of a kind that is known after four, in two batches; the eleventh lacks a word of the others."""
    monkeypatch.setattr(kinds, "LEARNED_FROM", 4)
    for number in range(12):
        value = VALUE % (number, "red" if number % 2 else "blue")
        if number == 10:
            value = value.replace("fits", "pinches")
        shelf.park(f"e-{number}", key=f"k{number}".encode(), value=value.encode(), headers=HEADERS)
        if number in (5, 11):
            shelf.index()
    return shelf


def everyone(*, but=()):
    return [f"e-{number}" for number in range(11, -1, -1) if number not in but]


def test_events_are_found_by_what_they_have_in_common_and_by_their_own(crowd):
    sizes = [len(words) for words in EventSearch.objects.order_by("pk").values_list("words", flat=True)]
    assert max(sizes[4:10]) < min(sizes[:4]) - kinds.FEWEST
    assert CommonWords.objects.count() == 1
    assert crowd.found("currency") == everyone()
    assert crowd.found("usual north x-shop") == everyone()
    assert crowd.found("fits") == everyone(but=[10])
    assert crowd.found("pinches box") == ["e-10"]
    assert crowd.found("currency ord-7") == ["e-7"]
    assert crowd.found("red box") == ["e-11", "e-9", "e-7", "e-5", "e-3", "e-1"]
    assert crowd.found("red blue box") == []
    assert str(crowd.ask("fits").count) == "11"


def test_it_is_found_only_by_those_who_may_see_payloads(crowd):
    assert crowd.found("currency", readable=[]) == []
    assert crowd.found("e-7", readable=[]) == ["e-7"]


def test_a_scrubbed_event_is_not_found_by_it(crowd):
    last = EventState.objects.latest("pk")
    with transaction.atomic():
        position.locked()
        entries.scrub([last.pk], [last.stored_at])
    assert crowd.found("currency") == everyone(but=[11])


def test_another_flow_with_the_same_words_is_apart(crowd):
    crowd.park("other", flow="orders", value=(VALUE % (1, "red")).encode(), headers=HEADERS)
    crowd.index()
    assert crowd.found("currency", visible=["orders"]) == ["other"]


def test_nothing_is_lost_with_a_process_that_had_learned(crowd, monkeypatch):
    """Its batch is rolled back, or another process follows: what stands for words is stored with whoever uses it."""
    CommonWords.objects.all().delete()
    crowd.park("late", key=b"late", value=(VALUE % (77, "red")).encode(), headers=HEADERS)
    crowd.index()
    assert "late" in crowd.found("currency")


def test_kinds_without_end_take_no_memory(shelf, monkeypatch):
    monkeypatch.setattr(kinds, "MOST_KINDS", 0)
    monkeypatch.setattr(entries, "KINDS", kinds.Kinds())
    shelf.park("e-1", value=b'{"note": "fits"}')
    shelf.index()
    assert shelf.found("fits") == ["e-1"]
