"""What is indexed, when it is indexed anew, and what it says about itself."""

import pytest
from django.core.management import call_command
from django.db import connection

from parking.models import Beat, EventSearch, EventState, IndexedDay, IndexPosition
from parking.search import document, follow, position, segments
from parking.search.numbers import of_payloads
from tests.parking.intake.conftest import attempt


def test_what_is_indexed_is_counted_by_flow_and_day(shelf):
    shelf.park("e-1")
    shelf.park("e-2", key=b"k2")
    shelf.park("e-3", flow="orders")
    assert position.lag().events == 3
    assert shelf.index() == 3
    assert dict(IndexedDay.objects.values_list("flow__name", "events")) == {"payments": 2, "orders": 1}
    assert shelf.index() == 0
    assert position.lag() == position.Lag(0, None)


def test_the_words_of_a_later_attempt_are_found(shelf):
    """A held event that fails in a replay has its first error only then."""
    shelf.park("e-1")
    lot = shelf.lots["payments"]
    lot.store(lot.held("e-2", 9))
    shelf.index()
    assert shelf.found("LaterError") == []
    lot.store(lot.answer("failed", "e-2", token=5, attempts=(attempt(2, "LaterError", "quite another thing"),)))
    assert shelf.index() == 1
    assert shelf.found("LaterError another") == ["e-2"]
    assert shelf.ask("x").events == 2


def test_what_is_open_is_not_once_more_among_the_words_of_the_payload(shelf):
    value = b'{"id": "e-1", "account": "acc-7"}'
    shelf.park("e-1", key=b"acc-7", value=value, headers=(), error_type="CardError", message="CardError")
    shelf.index()
    entry = EventSearch.objects.get()
    more = {of_payloads(shelf.flow().pk).number(word) for word in ("id", "account")}
    assert set(entry.words[entry.open :]) == more
    for text in ("e-1 CardError", "id acc-7", "acc account"):
        assert shelf.found(text) == ["e-1"], text


def test_attempts_that_come_with_their_event_cost_nothing_more(shelf):
    for number in range(5):
        shelf.park(f"e-{number}", key=f"k{number}".encode())
    assert shelf.index() == 5


def test_a_payload_that_is_too_long_is_read_in_part_and_says_so(shelf, monkeypatch):
    monkeypatch.setattr(document, "MOST_CHARACTERS", 100)
    shelf.park("e-1", value=b'{"first": "beginning", "text": "' + b"word " * 100 + b'", "last": "end-of-it"}')
    shelf.index()
    assert shelf.found("beginning") == ["e-1"]
    assert shelf.found("end-of-it") == []
    assert shelf.ask("x").cut == 1


@pytest.mark.parametrize(
    "value",
    [
        None, b"", b"\0\1\2 findme \xff", b'{"a": findme', b'{"a": "findme \\ud83d \\u0000"}', b'"findme"',
        b"[" * 9000 + b"findme",
        b'{"n": 1e999999, "big": ' + b"9" * 5000 + b', "x": "findme"}', "\ufefffindme".encode(), b'{"findme": NaN}',
    ],
)  # fmt: skip
def test_whatever_the_payload_is_it_is_indexed(shelf, value):
    shelf.park("e-1", value=value)
    shelf.index()
    assert shelf.found("findme") == ([] if not value else ["e-1"])


def test_the_same_index_comes_out_when_it_is_made_anew(shelf):
    shelf.park("e-1", value='{"a": "注文番号 ab-12"}'.encode())
    shelf.index()
    before = list(EventSearch.objects.values())
    counted = list(IndexedDay.objects.values("flow", "day", "events"))
    EventSearch.objects.all().delete()
    IndexedDay.objects.all().delete()
    IndexPosition.objects.update(event_id=0, attempt_id=0)
    shelf.index()
    assert list(EventSearch.objects.values()) == before
    assert list(IndexedDay.objects.values("flow", "day", "events")) == counted


@pytest.mark.django_db(transaction=True)
def test_the_command_indexes_and_beats(shelf, capsys):
    shelf.park("e-1")
    call_command("index", "--once")
    assert "1 events indexed" in capsys.readouterr().out
    assert shelf.found("broken") == ["e-1"]
    assert Beat.objects.get(process="index").note == "1 events behind"


def test_a_writer_that_does_not_end_is_reported_and_waited_for(shelf, monkeypatch, caplog):
    shelf.park("e-1")

    def final():
        raise position.Writing([4711])

    monkeypatch.setattr(position, "final", final)
    one = follow.Follow()
    one.turn()
    one.turn()
    assert caplog.text.count("4711") == 1
    assert EventState.objects.count() == 1
    monkeypatch.undo()
    one.turn()
    assert one.indexed == 1


def test_a_gap_in_the_ids_of_attempts_makes_no_event_late(shelf):
    """Attempts came with their event when the index began anew behind a wide gap; they were counted as later ones."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('parking_attempt', 'id'), 5000000)")
    IndexPosition.objects.update(attempt_id=0)
    shelf.park("e-1")
    assert shelf.index() == 1


def indexed_segments():
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_indexes WHERE indexdef LIKE '%USING gin%words%' ORDER BY 1")
        return [name for (name,) in cursor.fetchall()]


def test_words_are_sorted_in_when_the_ids_have_left_a_segment(shelf, monkeypatch):
    """And what is in it is found before and after, across its border, with what comes late."""
    shelf.park("e-0", key=b"k0")
    first = EventState.objects.latest("pk").pk
    monkeypatch.setattr(segments, "SPAN", first + 3)  # two more ids in the segment of the first
    for number in range(1, 6):
        shelf.park(f"e-{number}", key=f"k{number}".encode(), value=b'"everywhere"')
        shelf.index()
        assert len(shelf.found("everywhere")) == number
        assert len(indexed_segments()) == (number >= 3)
    shelf.index()
    assert shelf.found("everywhere")[0] == "e-5"
    assert shelf.found("e-0") == ["e-0"]


def test_segments_wait_for_their_indexes_until_a_burst_is_over(shelf, monkeypatch):
    """But no more than a few of them: a search reads them row by row."""
    monkeypatch.setattr(segments, "SPAN", 1)
    monkeypatch.setattr(follow, "MOST_OPEN", 3)
    monkeypatch.setattr(follow, "FEW", 3)
    shelf.park("e-0", value=b'"everywhere"')
    shelf.index()
    one = follow.Follow()

    def burst(first, end):
        for number in range(first, end):
            shelf.park(f"e-{number}", key=f"k{number}".encode(), value=b'"everywhere"')
        return one.turn()

    assert not burst(1, 4)
    assert (len(indexed_segments()), len(shelf.found("everywhere"))) == (0, 4)
    assert not burst(4, 7)
    assert (len(indexed_segments()), len(shelf.found("everywhere"))) == (1, 7)
    assert burst(7, 8)
    assert len(indexed_segments()) > 1
    while one.turn():
        assert len(shelf.found("everywhere")) == 8
    assert (len(indexed_segments()), len(shelf.found("everywhere"))) == (7, 8)


def test_an_event_whose_words_cannot_be_made_stops_nobody(shelf, monkeypatch, caplog):
    """Everything searchable is derived, and may fail without failing the event (guarantee 3)."""
    shelf.park("e-1", key=b"k1", value=b'"trap\\n"')
    shelf.park("e-2", key=b"k2", value=b'"fine"')
    leaves = document.leaves

    def trap(value, **options):
        if b"trap" in value:
            raise MemoryError
        return leaves(value, **options)

    monkeypatch.setattr(document, "leaves", trap)
    assert shelf.index() == 2
    assert shelf.found("fine") == ["e-2"]
    assert shelf.found("e-1") == ["e-1"]
    assert shelf.ask("x").cut == 1
    assert "MemoryError" in caplog.text


@pytest.mark.parametrize("paths", ["order.id", [1, None, {}], {"a": 1}, None])
def test_search_paths_that_are_none_are_left_alone(shelf, paths):
    flow = shelf.flow()
    type(flow).objects.filter(pk=flow.pk).update(search_paths=paths or [])
    shelf.park("e-1", value=b'{"order": {"id": 7}}')
    shelf.index()
    assert shelf.found("order 7") == ["e-1"]
    assert shelf.found("order.id=7") == []


@pytest.mark.django_db(transaction=True)
def test_a_database_that_goes_away_is_told_once_and_taken_up_again(shelf, caplog):
    shelf.park("e-1")
    one = follow.Follow()
    other = connection.copy()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (mine,) = cursor.fetchone()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 60000)", [mine])  # and waits until it is gone
    other.close()
    one.turn()
    assert one.indexed == 0
    assert caplog.text.count("index goes on by itself") == 1
    one.turn()
    assert one.indexed == 1
    assert "works again" in caplog.text
