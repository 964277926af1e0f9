"""The parking topics of the history, with intake behind them: only Kafka is left out."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from parking import partitioner
from parking.intake import flows, positions
from parking.intake.read import Arrived
from parking.intake.store import store
from parking.kafka_in import Reader
from parking.models import Flow, TopicIncarnation
from parking.record import Record
from parking.wire import Wire

PARTITIONS = 3
LIFE = "history"


class Parked(NamedTuple):
    """One record of a flow's parking topic, and when it was written."""

    flow: str
    at: datetime
    wire: Wire


def milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


class Arrivals:
    """An earlier life of each parking topic: its offsets are apart from those of the topic that is there now."""

    def __init__(self, known: Iterable[Flow]) -> None:
        self._flows = {flow.name: flow for flow in known}
        self._lives = {name: _earlier_life(flow) for name, flow in self._flows.items()}
        places = flows.by_topic(self._flows.values())
        self._readers = {
            self._lives[name].pk: places[flow.cluster_id, flow.parking_topic] for name, flow in self._flows.items()
        }
        self._next = {(life.pk, number): 0 for life in self._lives.values() for number in range(PARTITIONS)}
        for life in self._lives.values():
            for number in range(PARTITIONS):
                positions.position(life, number, start=0)

    def take(self, parked: Iterable[Parked]) -> None:
        """Store records in the order given."""
        before = dict(self._next)
        arrived = [self._arrived(one) for one in parked]
        touched = {(one.topic, one.record.partition) for one in arrived}
        store(arrived, self._readers, {place: before[place] for place in touched})

    def _arrived(self, parked: Parked) -> Arrived:
        life = self._lives[parked.flow]
        number = partitioner.partition(parked.wire.key or b"", PARTITIONS)
        offset = self._next[life.pk, number]
        self._next[life.pk, number] = offset + 1
        return Arrived(Record(life.name, number, offset, milliseconds(parked.at), *parked.wire), life.pk)


def begun(known: Iterable[Flow]) -> bool:
    """Whether anything was ever read of one of these flows, history included."""
    topics = [flow.parking_topic for flow in known]
    return TopicIncarnation.objects.filter(name__in=topics).exists()


def go_on(known: Iterable[Flow]) -> None:
    """Make the topics' present lives known: what intake finds there is no loss of the earlier ones."""
    for flow in known:
        topic_id = Reader(flow.cluster.client_settings).ids([flow.parking_topic]).get(flow.parking_topic)
        if topic_id is not None:
            TopicIncarnation.objects.get_or_create(
                cluster=flow.cluster, name=flow.parking_topic, topic_id=topic_id, generation=0
            )


def _earlier_life(flow: Flow) -> TopicIncarnation:
    return TopicIncarnation.objects.create(cluster=flow.cluster, name=flow.parking_topic, topic_id=LIFE)
