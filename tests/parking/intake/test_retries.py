"""Events that wait on a retry topic: shown, in no quarantine, until they are parked or long overdue."""

import struct
import time
from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest
from django.utils import timezone

from parking.actor import system
from parking.declare import declare
from parking.errors import Refused
from parking.intake import positions
from parking.intake.flows import Flows, by_topic, facts, who
from parking.intake.read import EPOCH
from parking.intake.store import store
from parking.models import EventState, IntakePosition, PendingRetry, Quarantine
from tests.parking.intake.conftest import moved


@cache
def now_ms() -> int:
    """Of these tests; not of when they were collected, which may be an hour ago."""
    return (timezone.now() - EPOCH) // timedelta(milliseconds=1)


def retry(plain, *, attempt=2, at=0, topic="orders-retry-1000", due=None, message=b"busy", group=b"orders-group"):
    """A record of Spring's retry topic; `at` in seconds from now, `due` too."""
    headers = [
        ("kafka_original-topic", b"orders"),
        ("kafka_original-partition", struct.pack(">i", 0)),
        ("kafka_original-offset", struct.pack(">q", 7)),
        ("kafka_original-timestamp", struct.pack(">q", 1_796_040_000_000)),
        ("kafka_dlt-original-consumer-group", group),
        ("retry_topic-attempts", struct.pack(">i", attempt)),
        ("kafka_exception-fqcn", b"a.Busy"),
        ("kafka_exception-message", message),
    ]
    if due is not None:
        headers.append(("retry_topic-backoff-timestamp", (now_ms() + due * 1000).to_bytes(6, "big")))
    return moved(plain.record(b"k", b"{}", headers), topic=topic, timestamp_ms=now_ms() + at * 1000)


def take(plain, *arrived):
    """Store records as if the flow watched its retry topics: each record by its own topic."""
    flow = replace(facts(plain.flow), retry_topics=("^orders-retry-.*$",))
    flows = {True: Flows("orders-retry", (), [flow]), False: Flows(plain.flow.parking_topic, [flow])}
    for one in arrived:
        place = (one.topic, one.record.partition)
        positions.position(plain.topic, one.record.partition, start=0)
        plain.rewind(one.record.offset)
        store([one], {one.topic: flows["retry" in one.record.topic]}, {place: one.record.offset})


def test_a_record_on_a_retry_topic_waits_and_is_not_parked(plain):
    take(plain, retry(plain))
    (waiting,) = PendingRetry.objects.all()
    assert (waiting.event_id, waiting.attempts) == ("orders/0/7@1796040000000", 1)
    assert (waiting.topic, waiting.error_type, waiting.error_message) == ("orders-retry-1000", "a.Busy", "busy")
    assert EventState.objects.count() == Quarantine.objects.count() == 0


def test_what_waits_for_a_group_that_is_no_flow_s_is_read_and_shown_to_nobody(plain, caplog):
    """Teams may share a retry topic, or a pattern fit too much: the error of one is not for the other to see."""
    topic = f"orders-retry-{time.monotonic_ns()}"  # it is told once per topic
    secret = {"topic": topic, "message": b"SECRET", "group": b"payroll"}
    take(plain, retry(plain, **secret), retry(plain), retry(plain, at=10, **secret))
    assert [waiting.error_message for waiting in PendingRetry.objects.all()] == ["busy"]
    assert EventState.objects.count() == Quarantine.objects.count() == 0
    assert (IntakePosition.objects.get().next_offset, caplog.text.count("are not listed")) == (3, 1)


def test_the_newest_record_of_an_event_counts_in_whatever_order_they_are_read(plain):
    take(plain, retry(plain, attempt=3, at=-10, message=b"second"), retry(plain, attempt=2, at=-20, message=b"first"))
    assert [(w.attempts, w.error_message) for w in PendingRetry.objects.all()] == [(2, "second")]


@pytest.mark.parametrize("parked_first", [True, False])
def test_an_event_that_is_parked_waits_no_longer(plain, parked_first):
    waits, parked = retry(plain, at=-10), retry(plain, attempt=4, at=-5, topic="orders-dlt")
    take(plain, *((parked, waits) if parked_first else (waits, parked)))
    assert PendingRetry.objects.count() == 0
    assert EventState.objects.get().kind == "poison"


def test_an_event_that_waits_again_after_it_was_parked_is_shown(plain):
    take(plain, retry(plain, attempt=4, at=-50, topic="orders-dlt"), retry(plain, attempt=5, at=-10))
    assert PendingRetry.objects.get().attempts == 4


def test_it_is_believed_to_have_succeeded_an_hour_after_it_was_due(plain):
    take(plain, retry(plain, at=-10, due=600))
    waiting, now = PendingRetry.objects.get(), timezone.now()
    assert waiting.due_at == EPOCH + timedelta(milliseconds=now_ms(), minutes=10)
    assert waiting.until == waiting.due_at + timedelta(hours=1)
    assert PendingRetry.objects.waiting(now).count() == 1
    assert PendingRetry.objects.waiting(now + timedelta(hours=2)).count() == 0


def test_what_was_due_long_ago_is_not_shown_at_all(plain):
    take(plain, retry(plain, at=-100_000))
    assert PendingRetry.objects.count() == 0


def test_the_same_record_again_is_nothing_new(plain):
    arrived = retry(plain)
    take(plain, arrived, arrived)
    assert PendingRetry.objects.count() == 1


@pytest.mark.parametrize(
    ("topics", "why"), [("orders-retry", "a list"), (["^.*$"], "every topic"), (["orders"], "which the flow reads")]
)
def test_retry_topics_are_checked_where_they_are_declared(plain, topics, why):
    with pytest.raises(Refused, match=why):
        declare(clusters=[], teams=[], flows=[{"name": plain.flow.name, "retry_topics": topics}], actor=system("test"))


def test_a_flow_is_found_by_its_retry_topics(plain):
    plain.flow.retry_topics = ["orders-retry-0", "^orders-retry-.*$"]
    known = facts(plain.flow)
    assert set(by_topic([plain.flow])) == {(known.cluster_id, t) for t in (plain.flow.parking_topic, "orders-retry-0")}
    found = who("orders-retry-5", [known])
    assert (found.parks, found.waiting("orders-group", None), bool(who("else", [known]))) == (False, known, False)
    assert found.waiting(None, None) == found.waiting("payroll", None, derived=True) == known
    assert found.waiting("payroll", "orders") is None
