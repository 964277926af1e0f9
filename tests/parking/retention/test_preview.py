"""What would be purged next, and what is kept and why."""

from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from parking.retention.preview import DayAhead, gone, preview
from parking.retention.purge import purge_due
from parking.search.index import catch_up
from tests.parking.retention.conftest import START


def test_what_is_due_and_what_comes_within_a_week(store):
    store.done("first")
    store.wait(5)
    store.done("second")
    store.wait(26)
    told = preview(store.flow())
    assert (told.due, told.soon, told.next_at) == (2, 2, START + timedelta(35))
    purge_due()
    assert (preview(store.flow()).due, preview(store.flow()).soon) == (0, 2)


def test_what_waits_too_long_is_a_warning_and_never_due(store):
    """Case RET-02."""
    store.park("k")
    store.settle("k", [1])
    store.wait(60)
    told = preview(store.flow())
    assert (told.due, told.kept_by_key, told.waiting_keys, told.not_understood) == (0, 1, 1, 0)
    assert told.oldest_waiting is not None


def test_days_tell_when_they_go_and_only_of_this_flow(store):
    store.done("k")
    store.park("other", "orders")
    store.done("mine", "payments")
    catch_up()
    store.wait(4)
    purge_due()
    assert preview(store.flow()).days == [DayAhead(START.date(), 4, None)]
    store.settle("other", flow="orders")
    store.release("other", "orders")
    store.wait(1)
    purge_due()
    assert preview(store.flow()).days == [DayAhead(START.date(), 4, timezone.now() + timedelta(59))]


def test_an_event_whose_day_is_gone_says_so(store):
    store.done("k")
    event = store.state("k-1")
    assert gone(event) is None
    store.wait(61)
    purge_due()
    day = gone(event)
    assert day is not None
    assert day.dropped_at == timezone.now()


@pytest.mark.parametrize("days", [{"payload_days": 61}, {"metadata_days": 36_501}])
def test_days_that_make_no_sense_are_refused_by_the_database(store, days):
    with pytest.raises(IntegrityError, match="flow_"):
        store.flow(**days)
