"""Intake never asks a schema registry: one that hangs, or whose settings are not sound, stops nothing."""

import pytest
from django.conf import settings

from parking.models import Cluster, EventState
from tests.registry import Silence

from .test_kafka import declared, lot_of, send, until

pytestmark = [pytest.mark.kafka, pytest.mark.django_db(transaction=True)]
DECIDED = b"\0\0\0\0\x05\x0cdsp-77\x80\x89\x0f\x00"


@pytest.mark.parametrize("more", [{}, {"schema.registry.nonsense": "x", "schema.registry.ssl.ca.location": "/none"}])
def test_values_of_a_registry_that_hangs_are_stored_without_asking_it(make_topic, intake, more):
    with Silence() as registry:
        Cluster.objects.create(
            name="main",
            bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS,
            settings={"schema.registry.url": registry.url, **more},
        )
        flow = declared(make_topic("parking"))
        lot = lot_of(flow)
        headers = (("__value_schema_id", b"\1" + b"g" * 16),)
        send(flow, *(lot.poison(f"e{n}", n, value=DECIDED, headers=headers) for n in range(50)))
        until(lambda: EventState.objects.count() == 50, intake)
        assert registry.connections == 0
    assert bytes(EventState.objects.get(event__event_id="e7").payload.value or b"") == DECIDED
