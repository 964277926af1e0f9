"""Intake's memory is bounded, whatever arrives: huge records, records of nothing but headers, and a long backlog."""

import re
from pathlib import Path

import pytest
from confluent_kafka import Producer
from django.conf import settings

from parking.models import IntakePosition, ParkedRecord

from .raw_producer import Raw, produce
from .test_kafka import declared
from .test_process import intake, wait

pytestmark = [pytest.mark.kafka, pytest.mark.django_db(transaction=True), pytest.mark.slow]

MEGABYTE = 1024 * 1024
LARGE = {"max.message.bytes": str(12 * MEGABYTE)}


@pytest.fixture
def flow(make_topic, variables):
    return declared(make_topic("large", partitions=3, **LARGE))


def most_memory(process) -> float:
    """Of the process's life until now, in megabytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


def test_records_of_10_mb(flow, variables, tmp_path):
    """240 MB wait before it starts; what they are is stored whole."""
    producer = Producer({"bootstrap.servers": settings.KAFKA_BOOTSTRAP_SERVERS, "message.max.bytes": 11 * MEGABYTE})
    for number in range(24):
        producer.produce(flow.parking_topic, bytes([number]) * 10 * MEGABYTE, b"k", number % 3)
        producer.flush(60)
    with intake(variables, tmp_path) as (process, _):
        wait(lambda: ParkedRecord.objects.count() == 24, seconds=300)
        took = most_memory(process)
    print(f"{took:.0f} MB at most")
    assert took < 300
    assert sum(IntakePosition.objects.values_list("next_offset", flat=True)) == 24


def test_records_of_nothing_but_headers(flow, variables, tmp_path):
    """A header of three bytes takes a hundred in our memory: 45 records of 100 000 are a lot."""
    record = Raw(b"k", b"v", [(b"h", b"")] * 100_000)
    for number in range(3):
        produce(settings.KAFKA_BOOTSTRAP_SERVERS, flow.parking_topic, *[record] * 15, partition=number)
    with intake(variables, tmp_path) as (process, _):
        wait(lambda: ParkedRecord.objects.count() == 45, seconds=300)
        took = most_memory(process)
    print(f"{took:.0f} MB at most")
    assert took < 300
