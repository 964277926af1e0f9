"""The index skips nothing, in whatever order transactions commit (`parking.search.position`)."""

import random
import threading
import time
from contextlib import contextmanager

import pytest
from django.db import connection
from django.utils import timezone

from parking import days
from parking.models import EventSearch, EventState, IndexPosition, ParkedEvent
from parking.search import position
from parking.search.index import batch, catch_up
from tests.parking.intake.conftest import make_flow

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def flow():
    days.ensure(timezone.now().date())
    return make_flow()


@contextmanager
def another_connection():
    other = connection.copy()
    try:
        yield other
    finally:
        other.close()


def insert(cursor, flow, name) -> int:
    """An event as intake stores it: the id is taken first, from the sequence."""
    now = timezone.now()
    cursor.execute("SELECT nextval(pg_get_serial_sequence('parking_eventstate', 'id'))")
    number: int = cursor.fetchone()[0]
    cursor.execute(
        "INSERT INTO parking_eventstate (id, flow_id, event_digest, stored_at, kind, state, attempt_count) "
        "VALUES (%s, %s, sha256(%s), %s, 'unattributed', 'parked', 0)",
        [number, flow.pk, name.encode(), now],
    )
    cursor.execute(
        "INSERT INTO parking_parkedevent (id, stored_at, cluster_id, dialect, event_id, event_type, parking_topic, "
        "parking_partition, parking_offset, parked_at, source_topic, consumer_group, fingerprint, error_type, "
        "error_message, blocked_by, unreadable_reason) "
        "VALUES (%s, %s, %s, 'unattributed', %s, '', 'p', 0, %s, %s, '', '', '', '', '', '', '')",
        [number, now, flow.cluster_id, name, number, now],
    )
    return number


def indexed() -> set[int]:
    return set(EventSearch.objects.values_list("pk", flat=True))


def test_an_id_that_commits_later_than_a_higher_one_is_not_skipped(flow):
    with another_connection() as other, other.cursor() as slow, connection.cursor() as fast:
        slow.execute("BEGIN")
        first = insert(slow, flow, "first")
        second = insert(fast, flow, "second")
        assert second > first
        with pytest.raises(position.Writing, match="database processes"):
            position.final(seconds=0.1)
        assert indexed() == set()
        slow.execute("COMMIT")
    catch_up()
    assert indexed() == {first, second}


def test_an_id_that_was_taken_before_anything_was_written_holds_the_index_back(flow):
    """Intake takes its ids in a statement of their own, when it has no lock on the table yet."""
    with another_connection() as other, other.cursor() as slow:
        slow.execute("BEGIN")
        slow.execute("SELECT nextval(pg_get_serial_sequence('parking_eventstate', 'id'))")
        with pytest.raises(position.Writing):
            position.final(seconds=0.05)
        slow.execute("ROLLBACK")
    assert position.final(seconds=0.05).event > 0


def test_who_begins_after_the_look_is_not_waited_for(flow):
    """Else the index would never move under constant load."""
    with another_connection() as other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        insert(cursor, flow, "early")
        later: list[int] = []

        def sleep(seconds):
            cursor.execute("COMMIT")
            cursor.execute("BEGIN")
            later.append(insert(cursor, flow, f"late {len(later)}"))

        to = position.final(seconds=5, sleep=sleep)
        assert len(later) == 1
        assert to.event < later[0]
        cursor.execute("ROLLBACK")


def test_other_writers_are_not_waited_for(flow):
    with connection.cursor() as cursor:
        number = insert(cursor, flow, "there")
    with another_connection() as other, other.cursor() as settling:
        settling.execute("BEGIN")
        settling.execute("UPDATE parking_eventstate SET attempt_count = 1 WHERE id = %s", [number])
        assert position.final(seconds=0.05).event == number
        settling.execute("ROLLBACK")


def test_burned_ids_leave_no_trace(flow):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence('parking_eventstate', 'id')) FROM generate_series(1, 5000)"
        )
        number = insert(cursor, flow, "after the gap")
    catch_up(size=2)
    assert indexed() == {number}
    assert position.lag().events == 0


def test_two_indexes_share_the_work_without_doing_it_twice(flow):
    with connection.cursor() as cursor:
        for number in range(40):
            insert(cursor, flow, f"e-{number}")
    done = run_in_threads([lambda: catch_up(size=3)] * 2)
    assert sum(done) == 40
    assert len(indexed()) == 40


def test_whatever_the_order_of_commits_nothing_is_missed(flow):
    """Four writers with transactions of any length, some of which roll back, while the index runs."""
    chance = random.Random(7)
    stop = threading.Event()

    def write(seed: int) -> int:
        mine, kept = random.Random(seed), 0
        with connection.cursor() as cursor:
            for _ in range(25):
                cursor.execute("BEGIN")
                count = mine.randint(1, 3)
                for _ in range(count):
                    insert(cursor, flow, f"e-{mine.random()}")
                    time.sleep(mine.random() / 300)
                keep = mine.random() < 0.7
                cursor.execute("COMMIT" if keep else "ROLLBACK")
                kept += count if keep else 0
        return kept

    def follow() -> int:
        done = 0
        while not stop.is_set():
            done += catch_up(size=chance.randint(1, 5))
        return done

    follower = threading.Thread(target=closing(follow))
    follower.start()
    written = run_in_threads([lambda seed=seed: write(seed) for seed in range(4)])
    stop.set()
    follower.join(120)
    catch_up()
    assert len(indexed()) == sum(written) == EventState.objects.count()


def test_the_position_survives_being_asked_twice(flow):
    with connection.cursor() as cursor:
        insert(cursor, flow, "one")
    to = position.final()
    assert batch(to) == 1
    assert batch(to) is None
    assert IndexPosition.objects.get().event_id == to.event
    assert ParkedEvent.objects.count() == len(indexed()) == 1


def closing(call):
    def run():
        try:
            return call()
        finally:
            connection.close()

    return run


def run_in_threads(calls):
    results = []
    threads = [threading.Thread(target=lambda call=call: results.append(closing(call)())) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(results) == len(calls)
    return results
