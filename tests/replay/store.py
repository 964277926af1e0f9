"""Intake without Kafka: what the consumer publishes gets coordinates of the parking topic and goes into the store."""

import hashlib
import time
from collections.abc import Sequence

from parking.intake import flows, positions
from parking.intake.read import Arrived
from parking.intake.store import store
from parking.models import Flow, TopicIncarnation
from parking.record import Record
from parking.wire import Wire


class Store:
    """The parking topic of one flow, with one partition, and intake behind it."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        life = hashlib.sha256(flow.parking_topic.encode()).hexdigest()[:22]
        self.topic = TopicIncarnation.objects.create(cluster=flow.cluster, name=flow.parking_topic, topic_id=life)
        positions.position(self.topic, 0, start=0)
        self._next = 0

    def take(self, wires: Sequence[Wire]) -> None:
        """Append the records to the topic and let intake read them, as one batch."""
        arrived = [Arrived(self._record(place, wire), self.topic.pk) for place, wire in enumerate(wires, self._next)]
        readers = flows.by_topic([self._flow])[self._flow.cluster_id, self._flow.parking_topic]
        if arrived:
            store(arrived, {self.topic.pk: readers}, {(self.topic.pk, 0): self._next})
        self._next += len(arrived)

    def _record(self, offset: int, wire: Wire) -> Record:
        now_ms = int(time.time() * 1000)
        return Record(self._flow.parking_topic, 0, offset, now_ms, wire.key, wire.value, wire.headers)
