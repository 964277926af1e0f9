"""Two processes store the same event of a consumer without the gate, each from a partition of its own, at once."""

import threading
import time

import pytest
from django.db import connection, transaction

from parking.models import EventState, ParkedRecord

from .conftest import moved
from .test_plain import dead

pytestmark = pytest.mark.django_db(transaction=True)


def somebody_waits_for_us():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks waits JOIN pg_locks ours USING (transactionid) "
            "WHERE NOT waits.granted AND ours.granted AND ours.pid = pg_backend_pid()"
        )
        return cursor.fetchone()[0]


def test_what_another_process_stores_behind_the_look_is_still_the_same_event(plain):
    """It was looked for before its key was locked, and is not looked for again: the batch is done in halves."""
    first, others = dead(plain, 7), [dead(plain, offset) for offset in (3, 7, 9)]
    batch = [moved(one, partition=1, offset=place) for place, one in enumerate(others)]
    stored = []

    def second():
        try:
            stored.append(plain.store(*batch))
        finally:
            connection.close()

    behind = threading.Thread(target=second)
    with transaction.atomic():
        plain.store(first)
        behind.start()
        for _ in range(2400):
            if somebody_waits_for_us():
                break
            time.sleep(0.05)
        else:
            pytest.fail("the second process waited for nothing")
    behind.join(120)
    assert [(one.records, one.broken) for one in stored] == [(3, 0)]
    assert sorted(EventState.objects.values_list("event__source_offset", "attempt_count")) == [(3, 1), (7, 2), (9, 1)]
    assert ParkedRecord.objects.count() == 4
