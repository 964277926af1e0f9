"""What a search finds, in which order, and what it says about itself."""

import os
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection

from parking.attempt import Attempt, ValidationError
from parking.models import EventState
from parking.search import walk
from parking.search.find import find, keys
from parking.search.grammar import parse

NOON = 1_796_040_000_000


@pytest.mark.usefixtures("segment")
def test_every_word_must_be_in_the_event(shelf):
    shelf.park("e-1", value=b'{"note": "late Payment", "shop": "north"}')
    shelf.park("e-2", value=b'{"note": "late refund", "shop": "north"}', key=b"k2")
    shelf.index()
    assert shelf.found("payment") == ["e-1"]
    assert shelf.found("late NORTH") == ["e-2", "e-1"]
    assert shelf.found("late payment refund") == []


@pytest.mark.usefixtures("segment")
@pytest.mark.parametrize(
    "text",
    [
        "k-77", "k-7", "k-7*", "event-9", "event-", "payments/0/900", "payments-parking/0/0", "com.x.NotFound",
        "notfound", "message-word", "header-value", "x-header", "/amount", "12.50", "order.id=A-1",
        "items.sku=S-2", "event-9 s-1", "123456789012345678901234567890",
    ],
)  # fmt: skip
def test_an_event_is_found_by_all_that_belongs_to_it(shelf, text):
    shelf.flow(search_paths=["order.id", "items.sku"])
    invalid = ValidationError("/amount", "an integer", "12.50", "")
    shelf.lots["payments"].store(
        shelf.lots["payments"].poison(
            "event-9",
            900,
            key=b"k-77",
            value=b'{"order":{"id":"A-1"},"items":[{"sku":"S-1"},{"sku":"S-2"}],"n":123456789012345678901234567890}',
            headers=(("x-header", b"header-value"), ("x-none", None)),
            attempts=(Attempt(1, NOON, "com.x.NotFound", "a message-word here", "", (invalid,)),),
        )
    )
    shelf.park("other", key=b"other", error_type="Else", message="nothing else")
    shelf.index()
    assert shelf.found(text) == ["event-9"]


@pytest.mark.usefixtures("segment")
def test_a_member_that_is_not_in_the_search_paths_is_only_words(shelf):
    shelf.park("e-1", value=b'{"order": {"id": "A-1"}}')
    shelf.park("e-2", value=b'{"order": {"id": "B-1"}, "x": "A-1 order.id"}', key=b"k2")
    shelf.index()
    assert shelf.found("order.id=A-1") == ["e-2"]


@pytest.mark.usefixtures("segment")
def test_percent_underscore_and_backslash_are_plain_characters(shelf):
    """Case SEA-01."""
    for key in (b"case_1", b"case-1", b"caseA1", b"15%", b"150"):
        shelf.park(f"of-{key.hex()}", key=key, message="none")
    shelf.index()
    for text, keys_found in {"case_1": [b"case_1"], "15%": [b"15%"], "\\": [], "%": [b"15%"], "_": [b"case_1"]}.items():
        assert shelf.found(text) == [f"of-{key.hex()}" for key in keys_found], text
    assert shelf.found("case_*") == [f"of-{b'case_1'.hex()}"]
    assert shelf.found("%*") == []


@pytest.mark.parametrize(
    "text",
    [
        "注文",
        "注",
        "番号-42",
        "注文番号-42",
        "заказ",
        "ЗАКАЗ",
        "äö",
        "ÄÖ",
        "A\u0308O\u0308",
        "ｆｕｌｌ",
        "straße",
        "STRASSE",
    ],
)
def test_other_scripts_are_found_whatever_the_case(shelf, text):
    """Case SEA-04."""
    shelf.park("e-1", value='{"a": "注文番号-42", "b": "Заказ", "c": "ÄÖ", "d": "Full Straße"}'.encode())
    shelf.park("e-2", value='{"a": "文注号番"}'.encode(), key=b"k2", message="-")
    shelf.index()
    assert "e-1" in shelf.found(text)
    assert text == "注" or shelf.found(text) == ["e-1"]


def test_pages_follow_each_other_without_gaps_or_repeats(shelf):
    for number in range(7):
        shelf.park(f"e-{number}", key=f"k{number}".encode())
    shelf.index()
    first = shelf.ask("broken", size=3)
    second = shelf.ask("broken", size=3, before=first.next)
    third = shelf.ask("broken", size=3, before=second.next)
    pages = [[hit.event.event_id for hit in page.hits] for page in (first, second, third)]
    assert pages == [["e-6", "e-5", "e-4"], ["e-3", "e-2", "e-1"], ["e-0"]]
    assert str(first.count) == "7"
    assert second.count is None
    assert third.next == ""
    assert shelf.found("broken", size=3, before="20261399.x") == pages[0]


def test_more_than_the_limit_is_counted_at_least_and_walked_in_windows(shelf, monkeypatch):
    monkeypatch.setattr(walk, "COUNTED", 4)
    monkeypatch.setattr(walk, "FIRST_WINDOW", 2)
    for number in range(9):
        shelf.park(f"e-{number}", key=f"k{number}".encode(), value=b'"even"' if number % 2 == 0 else b'"odd"')
    shelf.index()
    page = shelf.ask("even", size=2)
    assert [hit.event.event_id for hit in page.hits] == ["e-8", "e-6"]
    assert (str(page.count), page.count.exact) == ("4+", False)
    assert shelf.found("even", size=9, before=page.next) == ["e-4", "e-2", "e-0"]
    assert str(shelf.ask("odd").count) == "4"


@pytest.mark.usefixtures("segment")
@pytest.mark.parametrize("together", [1, 5, 100])
def test_days_are_walked_newest_first_however_many_are_asked_together(shelf, monkeypatch, together):
    """Ids may be older than the day they are in; the order and the pages are by day, then by id."""
    monkeypatch.setattr(walk, "PIECE", together)
    monkeypatch.setattr(walk, "COUNTED", 6)
    for number, back in enumerate((0, 3, 1, 3, 0, 1, 3, 0, 2)):
        with time_machine.travel(datetime(2026, 10, 10, 12, tzinfo=UTC) - timedelta(back), tick=False):
            shelf.park(f"day-{back}-{number}", key=f"k{number}".encode(), value=b'"even"' if number % 2 else b'"odd"')
    shelf.index()
    expected = ["day-0-7", "day-0-4", "day-0-0", "day-1-5", "day-1-2", "day-2-8", "day-3-6", "day-3-3", "day-3-1"]
    found, before = [], ""
    while True:
        page = shelf.ask("broken", size=2, before=before)
        found += [hit.event.event_id for hit in page.hits]
        if not (before := page.next):
            break
    assert found == expected
    assert str(shelf.ask("broken", size=2).count) == "6+"
    assert shelf.found("odd") == ["day-0-4", "day-0-0", "day-1-2", "day-2-8", "day-3-6"]
    assert str(shelf.ask("odd", size=2).count) == "5"


def test_what_a_search_costs_does_not_grow_with_what_is_found(shelf, django_assert_max_num_queries):
    for number in range(12):
        shelf.park(f"e-{number}", key=f"k{number}".encode())
    shelf.index()
    with django_assert_max_num_queries(13):
        for hit in shelf.ask("broken").hits:
            assert hit.event.event_id
            assert hit.flow.name
            assert bytes(hit.quarantine.hold_key.key)
            assert hit.error_group.pattern


def test_nothing_found_says_in_how_many_events(shelf):
    for number in range(3):
        shelf.park(f"e-{number}", key=f"k{number}".encode())
    shelf.index()
    shelf.park("late", key=b"late")
    answer = shelf.ask("nowhere")
    assert (answer.hits, str(answer.count), answer.events, answer.behind) == ([], "0", 3, 1)
    assert answer.looked_back_to is None


def test_when_the_time_is_up_it_says_how_far_it_looked(shelf, monkeypatch):
    shelf.park("e-1")
    shelf.index()
    monkeypatch.setattr(walk, "SECONDS", -1)
    answer = shelf.ask("broken")
    today = EventState.objects.get().stored_at.date()
    assert (answer.hits, answer.looked_back_to, str(answer.count)) == ([], today, "0+")
    monkeypatch.undo()
    assert shelf.found("broken", before=answer.next) == ["e-1"]


def test_a_statement_that_takes_too_long_is_an_answer_too(shelf, monkeypatch):
    shelf.park("e-1")
    shelf.index()
    monkeypatch.setattr(walk, "SQL_PROBE", "SELECT id, pg_sleep(5) FROM (" + walk.SQL_PROBE + ") AS slow")
    monkeypatch.setattr(walk, "SETTINGS", walk.SETTINGS.replace("2000", "50"))
    assert shelf.ask("broken").looked_back_to is not None
    assert EventState.objects.count() == 1


def test_the_settings_of_a_search_end_with_it(shelf):
    shelf.park("e-1")
    shelf.index()
    shelf.ask("broken")
    with connection.cursor() as cursor:
        cursor.execute("SHOW enable_seqscan")
        assert cursor.fetchone() == ("on",)
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)


def test_keys_are_found_by_how_they_begin(shelf):
    for key in (b"acc-1", b"acc-12", b"acc_1", b"bcc-1"):
        shelf.park(f"of-{key.hex()}", key=key)
    visible = [shelf.flow().pk]
    assert [bytes(one.hold_key.key) for one in keys(parse("acc-1"), visible=visible)] == [b"acc-1", b"acc-12"]
    assert keys(parse("acc-1 x"), visible=visible) == []
    assert keys(parse("acc-1"), visible=[]) == []


def test_long_and_binary_keys_are_found(shelf):
    """Case STO-02."""
    noise, letters = os.urandom(2047) + b"\xff", b"a" * 300_000
    twins = [os.urandom(2048) + ending for ending in (b"1" * 1000, b"2" * 1000)]
    for number, key in enumerate((noise, letters, *twins)):
        shelf.park(f"e-{number}", key=key, message="-")
    shelf.index()
    assert shelf.found(noise.hex()[:4000]) == []
    assert "e-1" in shelf.found("aaaa*")
    found = find(parse("a" * 256), visible=[shelf.flow().pk], readable=[])
    assert [hit.event.event_id for hit in found.hits] == ["e-1"]
