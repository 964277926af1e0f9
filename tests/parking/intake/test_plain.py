"""A consumer without the gate (Spring): its dead letters have quarantines too, in the order of its source offsets."""

import struct

from parking import headers as packed_headers
from parking.models import ErrorGroup, EventState, Quarantine

LISTENER = "org.springframework.kafka.listener.ListenerExecutionFailedException"
STACK = f"{LISTENER}: Listener failed\n\tat x.Y.z(Y.java:1)\nCaused by: java.lang.IllegalStateException: closed 7\n"


def dead(plain, offset, *, partition=0, group="orders-group", key=b"k", more=(), message="closed 7"):
    failure = [
        ("kafka_dlt-exception-fqcn", LISTENER.encode()),
        ("kafka_dlt-exception-cause-fqcn", b"java.lang.IllegalStateException"),
        ("kafka_dlt-exception-message", message.encode()),
        ("kafka_dlt-exception-stacktrace", STACK.encode()),
        ("kafka_dlt-original-topic", b"orders"),
        ("kafka_dlt-original-partition", struct.pack(">i", partition)),
        ("kafka_dlt-original-offset", struct.pack(">q", offset)),
        ("kafka_dlt-original-timestamp", struct.pack(">q", 1_796_040_000_000)),
        ("kafka_dlt-original-consumer-group", group.encode()),
    ]
    return plain.record(key, b'{"id":1}', [("tag", b"a"), ("tag", None), *more, *failure])


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
