"""A consumer without the gate (Spring): its dead letters have quarantines too, in the order of its source offsets."""

import struct

from parking import headers as packed_headers
from parking.actor import system
from parking.infer import infer
from parking.models import ErrorGroup, EventState, Incident, JournalEntry, Quarantine
from tests.parking.intake.conftest import moved, value_of

LISTENER = "org.springframework.kafka.listener.ListenerExecutionFailedException"
STACK = f"{LISTENER}: Listener failed\n\tat x.Y.z(Y.java:1)\nCaused by: java.lang.IllegalStateException: closed 7\n"


def dead(
    plain,
    offset,
    *,
    topic=b"orders",
    partition=0,
    group="orders-group",
    key=b"k",
    value=b'{"id":1}',
    more=(),
    message="closed 7",
):
    failure = [
        ("kafka_dlt-exception-fqcn", LISTENER.encode()),
        ("kafka_dlt-exception-cause-fqcn", b"java.lang.IllegalStateException"),
        ("kafka_dlt-exception-message", message.encode()),
        ("kafka_dlt-exception-stacktrace", STACK.encode()),
        ("kafka_dlt-original-topic", topic),
        ("kafka_dlt-original-partition", struct.pack(">i", partition)),
        ("kafka_dlt-original-offset", struct.pack(">q", offset)),
        ("kafka_dlt-original-timestamp", struct.pack(">q", 1_796_040_000_000)),
        ("kafka_dlt-original-consumer-group", group.encode()),
    ]
    return plain.record(key, value, [("tag", b"a"), ("tag", None), *more, *failure])


def order(quarantine):
    return [(e.event.source_partition, e.event.source_offset) for e in EventState.objects.in_order(quarantine)]


def test_a_dead_letter_is_poison_with_its_failure_and_its_original_headers(plain):
    plain.store(dead(plain, 7))
    event = EventState.objects.get()
    assert (event.kind, event.position, event.event.dialect) == ("poison", 7, "spring-kafka")
    assert event.event.event_id == "orders/0/7@1796040000000"
    assert event.event.error_type == "java.lang.IllegalStateException"
    assert ErrorGroup.objects.get().pattern == "closed <n>"
    assert event.attempts.get().stacktrace == STACK
    assert packed_headers.unpack(event.payload.headers) == (("tag", b"a"), ("tag", None))
    assert len(packed_headers.unpack(event.payload.raw_headers)) == 11


def test_order_is_that_of_the_source_while_it_is_one_partition(plain):
    plain.store(dead(plain, 9), dead(plain, 7))
    plain.store(dead(plain, 8))
    assert order(plain.quarantine) == [(0, 7), (0, 8), (0, 9)]


def test_events_of_two_source_partitions_are_in_the_order_of_parking(plain):
    plain.store(dead(plain, 9), dead(plain, 7))
    plain.store(dead(plain, 8), dead(plain, 3, partition=1), dead(plain, 1))
    plain.store(dead(plain, 2, partition=1))
    assert order(plain.quarantine) == [(0, 9), (0, 7), (0, 8), (1, 3), (0, 1), (1, 2)]
    assert plain.quarantine.ordered_partition is None


def test_two_source_partitions_in_the_first_batch(plain):
    plain.store(dead(plain, 9), dead(plain, 3, partition=1), dead(plain, 1))
    assert order(plain.quarantine) == [(0, 9), (1, 3), (0, 1)]


def test_the_same_event_parked_again_joins_its_own_history(plain):
    """Case ING-24."""
    plain.store(dead(plain, 7, more=[("event-id", b"e1")]))
    plain.store(dead(plain, 99, more=[("event-id", b"e1")], message="closed again"))
    event = EventState.objects.get()
    assert [a.number for a in event.attempts.all()] == [1, 2]
    assert event.position == 7
    assert plain.quarantine.poison == 1


def test_a_failure_of_another_group_is_not_ours(plain):
    plain.store(dead(plain, 7, group="audit"))
    event = EventState.objects.get()
    assert event.kind == "unattributed"
    assert "audit" in event.event.unreadable_reason
    assert Quarantine.objects.count() == 0


def test_order_of_parking_holds_where_a_batch_also_touches_an_older_event(plain):
    plain.store(dead(plain, 5), dead(plain, 7))
    plain.store(dead(plain, 7), dead(plain, 1, partition=1))
    assert order(plain.quarantine) == [(0, 5), (0, 7), (1, 1)]


def test_offsets_of_another_topic_order_nothing(plain):
    """A dead letter of a dead letter names the dead-letter topic: its offsets mean something else."""
    plain.store(dead(plain, 9), dead(plain, 2, topic=b"orders-dlt"))
    assert order(plain.quarantine) == [(0, 9), (0, 2)]


def test_a_record_that_waits_for_its_next_try_is_not_parked(plain):
    headers = [("kafka_original-topic", b"orders"), ("retry_topic-attempts", b"\0\0\0\2")]
    arrived = plain.record(b"k", b"{}", headers)
    plain.store(moved(arrived, topic="orders-retry-1000"))
    event = EventState.objects.get()
    assert (event.kind, event.quarantine) == ("unattributed", None)
    assert "retry topic" in event.event.unreadable_reason


def test_a_record_that_says_nothing_is_parked_in_the_order_of_parking(plain):
    """Kafka Connect without context headers."""
    plain.store(plain.record(b"k", b"1", [("tag", None)]), plain.record(b"k", b"2", []))
    events = list(EventState.objects.in_order(plain.quarantine))
    assert [value_of(event) for event in events] == [b"1", b"2"]
    assert {event.event.dialect for event in events} == {"unnamed"}
    assert events[0].event.event_id == "orders-dlt/0/0@1796040000000"


def connect(plain, connector, *, topic=b"orders"):
    named = {"topic": topic, "partition": b"0", "offset": b"7", "connector.name": connector}
    return plain.record(b"k", b"{}", [(f"__connect.errors.{name}", value) for name, value in named.items()])


def test_the_group_of_a_connector_may_be_overridden(plain):
    plain.store(connect(plain, b"sink"))
    assert plain.quarantine.poison == 1


def test_a_connector_that_reads_another_topic_is_not_ours(plain):
    plain.store(connect(plain, b"sink", topic=b"payments"))
    assert EventState.objects.get().kind == "unattributed"


def replayed(token=b"9"):
    return [("siding-event-id", b"e1"), ("siding-replay-id", b"1"), ("siding-token", token)]


def test_a_replayed_event_that_fails_again_has_an_attempt_of_that_replay(plain):
    """Case ING-24: at another source offset, without its own id header."""
    plain.store(dead(plain, 7, more=[("event-id", b"e1")]))
    plain.store(dead(plain, 99, more=replayed()))
    event = EventState.objects.get()
    assert [(a.token, a.number) for a in event.attempts.all()] == [(0, 1), (9, 2)]
    assert (event.state, event.position, plain.quarantine.poison) == ("parked", 7, 1)
    assert packed_headers.unpack(event.payload.headers) == (("tag", b"a"), ("tag", None), ("event-id", b"e1"))


def believed_applied(event, *, released=True):
    """As after a replay whose outcome was inferred."""
    infer(event_state_id=event.pk, state="applied", token=9, replay_id=None, evidence={}, actor=system("worker"))
    assert (Quarantine.objects.get(pk=event.quarantine_id).state == "released") is released


def test_an_event_that_fails_after_it_was_believed_applied_is_parked_again(plain):
    plain.store(dead(plain, 7, more=[("event-id", b"e1")]))
    believed_applied(EventState.objects.get())
    plain.store(dead(plain, 99, more=replayed()))
    event = EventState.objects.get()
    assert (event.state, event.settled_at, event.position) == ("parked", None, 7)
    assert event.quarantine is not None
    assert (event.quarantine.state, event.quarantine.poison) == ("open", 1)
    assert Incident.objects.get().kind == "back-to-parked"
    assert JournalEntry.objects.latest("id").verb == "returned"


def test_in_the_next_quarantine_of_its_key_it_has_its_first_place(plain):
    plain.store(dead(plain, 7, more=[("event-id", b"e1")]))
    first = EventState.objects.get()
    believed_applied(first)
    plain.store(dead(plain, 12))
    plain.store(dead(plain, 99, more=replayed()))
    first.refresh_from_db()
    assert order(first.quarantine) == [(0, 7), (0, 12)]


def test_where_another_partition_came_meanwhile_it_stands_in_the_order_of_parking(plain):
    plain.store(dead(plain, 7, more=[("event-id", b"e1")]))
    first = EventState.objects.get()
    believed_applied(first)
    plain.store(dead(plain, 12, partition=1), dead(plain, 99, more=replayed()))
    first.refresh_from_db()
    assert order(first.quarantine) == [(1, 12), (0, 7)]


def test_a_skipped_event_that_arrives_again_opens_nothing(plain):
    plain.store(dead(plain, 7, more=[("event-id", b"e1")]))
    event = EventState.objects.get()
    infer(event_state_id=event.pk, state="skipped", token=9, replay_id=None, evidence={}, actor=system("worker"))
    plain.store(dead(plain, 7, more=[("event-id", b"e1")]))
    event.refresh_from_db()
    assert (event.state, event.attempt_count) == ("skipped", 2)
    assert Quarantine.objects.get().state == "released"


WORN = [("event-id", b"e1")]


def test_another_event_that_wears_the_same_id_is_kept_with_its_own_bytes(plain):
    plain.store(dead(plain, 7, more=WORN))
    plain.store(dead(plain, 9, more=WORN, value=b"other"))
    first, second = EventState.objects.in_order(plain.quarantine)
    assert (value_of(first), value_of(second)) == (b'{"id":1}', b"other")
    assert second.event.event_id == "e1#orders/0/9@1796040000000"
    assert "same id" in second.event.unreadable_reason
    assert first.attempt_count == 1


def test_so_it_is_within_one_batch_and_where_each_event_stands_alone(plain):
    plain.flow.promise = "independent"
    plain.flow.save()
    plain.store(
        dead(plain, 7, more=WORN), dead(plain, 9, more=WORN, value=b"other"), dead(plain, 9, more=WORN, value=b"other")
    )
    assert {bytes(q.hold_key.key) for q in Quarantine.objects.all()} == {b"e1", b"e1#orders/0/9@1796040000000"}
    assert sorted(event.attempt_count for event in EventState.objects.all()) == [1, 2]


def test_the_same_place_is_the_same_event_though_its_producer_wrote_the_value_anew(plain):
    plain.store(dead(plain, 7, more=WORN))
    plain.store(dead(plain, 7, more=WORN, value=b'{"id":1.0}'))
    assert EventState.objects.get().attempt_count == 2


def test_what_a_replay_sent_is_the_same_event_though_it_was_amended(plain):
    plain.store(dead(plain, 7, more=WORN))
    plain.store(dead(plain, 99, more=replayed(), value=b"amended"))
    assert EventState.objects.get().attempt_count == 2
