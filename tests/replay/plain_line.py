"""A whole line without the gate, in one thread: a plain consumer on real topics, the console's real intake behind it.

The consumer fails what starts with `bad` and dead-letters it in the form of Spring's DeadLetterPublishingRecoverer
(4.x), then commits, as Spring does. Nothing moves unless a test says so.
"""

import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from confluent_kafka import Producer

from parking.intake.loop import Intake
from parking.models import Cluster, EventState, Flow, Quarantine, Team
from parking.record import Headers, Record
from replay import approve, decide, plan, request, run, states
from replay.models import Replay
from tests.replay.line import ANNE, BORIS, KEY, again
from tests.replay.reader import Reader

LISTENER = "org.springframework.kafka.listener.ListenerExecutionFailedException"
THROWN = "com.example.billing.InvalidAmountException"
PARTITIONS = 3


def failure(record: Record, group: str, message: str) -> Headers:
    """What Spring appends to the headers that the listener was given."""
    stack = (
        f"{LISTENER}: Listener failed; {message}\n\tat x.Y.z(Y.java:1)\nCaused by: {THROWN}: {message}\n\t... 9 more\n"
    )
    return (
        ("kafka_dlt-exception-fqcn", LISTENER.encode()),
        ("kafka_dlt-exception-cause-fqcn", THROWN.encode()),
        ("kafka_dlt-exception-message", f"Listener failed; {message}".encode()),
        ("kafka_dlt-exception-stacktrace", stack.encode()),
        ("kafka_dlt-original-topic", record.topic.encode()),
        ("kafka_dlt-original-partition", struct.pack(">i", record.partition)),
        ("kafka_dlt-original-offset", struct.pack(">q", record.offset)),
        ("kafka_dlt-original-timestamp", struct.pack(">q", record.timestamp_ms)),
        ("kafka_dlt-original-timestamp-type", b"CreateTime"),
        ("kafka_dlt-original-consumer-group", group.encode()),
    )


def stripped(headers: Headers) -> Headers:
    """`stripPreviousExceptionHeaders`: an older exception set goes, an older original set stays."""
    return tuple(header for header in headers if not header[0].startswith("kafka_dlt-exception-"))


class Service:
    """The consumer: it applies, or dead-letters, one record after another, and commits behind each."""

    def __init__(self, kafka: str, flow: Flow) -> None:
        self._flow = flow
        self.applied: list[Record] = []
        self.seen: list[Record] = []
        self.parks_late: list[Callable[[], None]] = []
        self.late = False
        self.transactional: Producer | None = None
        self.fails: tuple[bytes, ...] = (b"bad",)
        self._producer = Producer({"bootstrap.servers": kafka, "enable.idempotence": True})
        self._reader = Reader(kafka, flow.replays_to, group=flow.consumer_group, partitions=PARTITIONS)

    def park_in_transactions(self, kafka: str) -> None:
        self.transactional = Producer({"bootstrap.servers": kafka, "transactional.id": self._flow.name})
        self.transactional.init_transactions(60)

    def serve(self) -> list[Record]:
        """Process what is there."""
        found = [self._process(record) for record in self._reader.read()]
        self.seen += found
        return found

    def _process(self, record: Record) -> Record:
        if record.value is not None and record.value.startswith(self.fails):
            self._fail(record)
        else:
            self.applied.append(record)
        self._reader.commit(record)
        return record

    def _fail(self, record: Record) -> None:
        if self.late:
            self.parks_late.append(lambda: self._park(record))
        else:
            self._park(record)

    def _park(self, record: Record) -> None:
        headers = (*stripped(record.headers), *failure(record, self._flow.consumer_group, "amount must be positive"))
        to = self._flow.parking_topic, record.value, record.key, record.partition
        if self.transactional:
            self.transactional.begin_transaction()
            self.transactional.produce(*to, headers=list(headers))
            self.transactional.commit_transaction()
        else:
            self._producer.produce(*to, headers=list(headers))
            assert self._producer.flush(60) == 0

    def close(self) -> None:
        self._reader.close()


class PlainLine:
    def __init__(self, kafka: str, make_topic: Callable[..., str], **changes: object) -> None:
        self.kafka = kafka
        source = make_topic("orders", partitions=PARTITIONS)
        parking = make_topic("orders-dlt", partitions=PARTITIONS)
        cluster, _ = Cluster.objects.get_or_create(name="test", defaults={"bootstrap_servers": kafka})
        team, _ = Team.objects.get_or_create(name="team")
        fields = {
            "cluster": cluster,
            "team": team,
            "source_topic": source,
            "consumer_group": f"{source}-billing",
            "parking_topic": parking,
            "target": "plain",
            "outcome_timeout_seconds": 240,
            **changes,
        }
        self.flow = Flow.objects.create(name=source, **fields)
        self.service = Service(kafka, self.flow)
        self.intake = Intake(look_every=0.2)
        self._producer = Producer({"bootstrap.servers": kafka})

    def produce(
        self, value: bytes | None, *, partition: int = 1, key: bytes | None = KEY, headers: Headers = ()
    ) -> None:
        """One record of the source topic."""
        self._producer.produce(self.flow.source_topic, value, key, partition, headers=list(headers) or None)
        assert self._producer.flush(60) == 0

    def park(self, *values: bytes, partition: int = 1, headers: Headers = ()) -> Quarantine:
        """These fail, and intake reads them."""
        known = EventState.objects.filter(flow=self.flow).count()
        for value in values:
            self.produce(value, partition=partition, headers=headers)
        self.service.serve()
        self.read_until(lambda: EventState.objects.filter(flow=self.flow).count() == known + len(values))
        return self.quarantine()

    def read_until(self, condition: Callable[[], bool], seconds: float = 240.0) -> None:
        """Intake reads until the condition holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            self.intake.turn()

    def quarantine(self) -> Quarantine:
        return Quarantine.objects.select_related("flow__cluster", "hold_key").filter(flow=self.flow).latest("pk")

    def events(self) -> list[EventState]:
        """All of the flow, in the order in which they were parked first."""
        return list(EventState.objects.filter(flow=self.flow).select_related("event").order_by("pk"))

    def states(self) -> list[str]:
        return [event.state for event in self.events()]

    def decide(self, *actions: str) -> None:
        """One decision for each unsettled event, in order."""
        for event, action in zip(EventState.objects.unsettled(self.quarantine()), actions, strict=True):
            seen = getattr(getattr(event, "decision", None), "at", None)
            decide.decide(
                event_state_id=event.pk, action=action, reason="seen and decided", actor=ANNE, seen_decision_at=seen
            )

    def request(self) -> Replay:
        quarantine = self.quarantine()
        digest = plan.build(quarantine).digest
        return request.request(quarantine_id=quarantine.pk, digest=digest, actor=ANNE, reason="please replay")

    def approved(self) -> Replay:
        asked = self.request()
        return approve.approve(replay_id=asked.pk, digest=bytes(asked.digest), actor=BORIS, reason="looks right")

    def tick(self, replay: Replay) -> Replay:
        """A worker drives the replay until nothing moves any more."""
        run.advance(again(replay).pk, owner="test", seconds=30, patience=0.3)
        return again(replay)

    def play(
        self, replay: Replay, *, seconds: float = 240.0, until: Callable[[Replay], bool] = lambda _: False
    ) -> Replay:
        """Worker, consumer and intake take turns until the replay ends (or `until` says so)."""
        deadline = time.monotonic() + seconds
        replay = again(replay)
        while replay.state in states.DRIVEN and not until(replay) and time.monotonic() < deadline:
            run.advance(replay.pk, owner="test", seconds=0)
            self.service.serve()
            self.intake.turn()
            replay = again(replay)
        return replay

    def steps(self, replay: Replay) -> list[str]:
        return list(replay.steps.order_by("ordinal").values_list("state", flat=True))

    def close(self) -> None:
        self.service.close()
        self.intake.close()


@contextmanager
def plain_line(kafka: str, make_topic: Callable[..., str], **changes: object) -> Iterator[PlainLine]:
    made = PlainLine(kafka, make_topic, **changes)
    yield made
    made.close()
