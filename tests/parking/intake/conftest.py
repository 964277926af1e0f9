"""A flow and records of its parking topic, without Kafka: what intake does from the moment it has them."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from parking.attempt import Attempt
from parking.coordinates import Coordinates
from parking.fingerprint import fingerprint
from parking.intake import positions
from parking.intake.flows import by_topic
from parking.intake.loop import Intake
from parking.intake.read import Arrived
from parking.intake.store import store
from parking.models import Cluster, EventState, Flow, IntakePosition, Quarantine, Team, TopicIncarnation
from parking.record import Record
from parking.wire import Announcement, Outcome, announcement, outcome

NOON = 1_796_040_000_000  # 2026-11-30


def make_flow(name="payments", **changes: Any) -> Flow:
    cluster, _ = Cluster.objects.get_or_create(name="main", defaults={"bootstrap_servers": "kafka:9092"})
    team, _ = Team.objects.get_or_create(name="ledger")
    fields = {
        "cluster": cluster,
        "team": team,
        "source_topic": name,
        "consumer_group": f"{name}-group",
        "parking_topic": f"{name}-parking",
        "replay_topic": f"{name}-replay",
    }
    return Flow.objects.create(name=name, **(fields | changes))


def attempt(number=1, error_type="ValueError", message="amount must be positive: -3", **more: Any) -> Attempt:
    return Attempt(number, NOON + number, error_type, message, f"Traceback\n{error_type}: {message}", **more)


@dataclass
class Lot:
    """The parking topic of one flow."""

    flow: Flow
    topic: TopicIncarnation
    offsets: dict[int, int] = field(default_factory=dict)

    def record(self, key, value, headers, partition=0) -> Arrived:
        offset = self.offsets.setdefault(partition, 0)
        self.offsets[partition] = offset + 1
        record = Record(self.flow.parking_topic, partition, offset, NOON + offset, key, value, tuple(headers))
        return Arrived(record, self.topic.pk)

    def parked(self, kind, event_id, position, *, key=b"k", value=b"{}", headers=(), partition=0, **more) -> Arrived:
        wire = announcement.encode(
            Announcement(
                kind=kind,
                flow=self.flow.name,
                event_id=event_id,
                position=position,
                fingerprint=fingerprint(key, value, headers),
                source=Coordinates("payments", 0, position % 1000, NOON),
                key=key,
                value=value,
                headers=tuple(headers),
                consumer_group=self.flow.consumer_group,
                **more,
            )
        )
        return self.record(wire.key, wire.value, wire.headers, partition)

    def poison(self, event_id, position, **more) -> Arrived:
        return self.parked("poison", event_id, position, **({"attempts": (attempt(),)} | more))

    def held(self, event_id, position, **more) -> Arrived:
        return self.parked("held", event_id, position, **({"blocked_by": "e1"} | more))

    def answer(self, word, event_id=None, *, key=b"k", partition=0, **more) -> Arrived:
        wire = outcome.encode(Outcome(outcome=word, flow=self.flow.name, hold_key=key, event_id=event_id, **more))
        return self.record(wire.key, wire.value, wire.headers, partition)

    def store(self, *arrived: Arrived, expected=None, broken=0):
        partitions = {one.record.partition for one in arrived}
        for partition in partitions:
            positions.position(self.topic, partition, start=0)
        if expected is None:
            rows = IntakePosition.objects.filter(topic=self.topic, partition__in=partitions)
            expected = {(self.topic.pk, row.partition): row.next_offset for row in rows}
        flows = by_topic(Flow.objects.filter(parking_topic=self.flow.parking_topic))
        stored = store(arrived, {self.topic.pk: flows[self.flow.cluster_id, self.flow.parking_topic]}, expected)
        assert stored.broken == broken
        return stored

    def rewind(self, to=0, partition=0):
        IntakePosition.objects.filter(topic=self.topic, partition=partition).update(next_offset=to)

    def state(self, event_id) -> EventState:
        return EventState.objects.get(event__event_id=event_id, flow=self.flow)

    @property
    def quarantine(self) -> Quarantine:
        return Quarantine.objects.get(flow=self.flow)


def value_of(event: EventState) -> bytes | None:
    value = event.payload.value
    return None if value is None else bytes(value)


def make_lot(flow: Flow) -> Lot:
    return Lot(flow, positions.incarnation(flow.cluster, flow.parking_topic, "id-1"))


@pytest.fixture
def admin(kafka) -> AdminClient:
    return AdminClient({"bootstrap.servers": kafka})


@pytest.fixture
def intake():
    """An intake process within this one, which looks often; a test turns it."""
    intake = Intake(look_every=0.2)
    yield intake
    intake.close()


@pytest.fixture
def flow(db) -> Flow:
    return make_flow()


@pytest.fixture
def lot(flow) -> Lot:
    return make_lot(flow)


@pytest.fixture
def plain(db) -> Lot:
    """The dead-letter topic of a Spring consumer, which has no gate."""
    return make_lot(make_flow("orders", parking_topic="orders-dlt", target="plain", replay_topic=""))


def moved(arrived: Arrived, **changes: Any) -> Arrived:
    return replace(arrived, record=replace(arrived.record, **changes))
