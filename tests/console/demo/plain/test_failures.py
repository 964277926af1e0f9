"""What fails of the plain services is parked in a form that intake reads as what it is."""

import itertools
from random import Random

import pytest

from console.demo.plain.events import RIGHT, WRONG, Sent, invoice
from console.demo.plain.failures import SERVICES, Fault, invoice_fault, parked
from console.demo.plain.world import World
from parking.dialects import identify
from parking.record import Record

AT = 1_796_041_643_174


def arrived(flow: str, sent: Sent) -> tuple[Record, Fault]:
    """The parking record of an event that failed, as it would arrive, and why it failed."""
    service = SERVICES[flow]
    record = Record(flow, 2, 41, AT, sent.key, sent.value, sent.headers)
    fault = service.fault(sent.value)
    assert fault is not None
    wire = parked(service, record, fault)
    return Record(service.parking_topic, 0, 7, AT + 900, *wire), fault


def event_id(sent: Sent) -> str:
    _, value = sent.headers[0]
    assert value is not None
    return value.decode()


@pytest.mark.parametrize("flow", SERVICES)
def test_right_events_go_through_and_wrong_ones_are_parked_with_their_error(flow):
    random = Random(3)
    assert all(SERVICES[flow].fault(RIGHT[flow](random, number).value) is None for number in range(50))
    for make in WRONG[flow]:
        sent = make(random, 70_311)
        record, fault = arrived(flow, sent)
        reading = identify(record)
        assert reading.framework != "unattributed"
        assert reading.consumer_group == SERVICES[flow].group
        assert (reading.source_topic, reading.source_partition, reading.source_offset) == (flow, 2, 41)
        assert reading.original_headers[:3] == sent.headers
        assert reading.event_id == event_id(sent)
        if fault.message:
            assert any(fault.message in text for text in (reading.error_message, reading.stacktrace) if text)
        if fault.form in ("retries", "listener", "put", "transform"):
            assert reading.error_class == fault.error


def test_a_tax_rate_that_was_added_lets_the_same_event_through():
    event = invoice(Random(1), 70_311, country="XI")
    fault = invoice_fault(event.value, countries=("DE",))
    assert fault is not None
    assert fault.message == "no tax rate for country XI on the day of delivery"
    assert invoice_fault(event.value) is None


def test_failures_come_early_and_ever_more_seldom():
    world, rule = World("shipments", Random(5)), SERVICES["shipments"].fault
    times = [second for second in range(0, 7200, 2) if rule(world.moment(second).value)]
    assert times[0] <= 16
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert gaps == sorted(gaps)
    assert 5 < len(times) < 20
