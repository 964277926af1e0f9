"""The topics of one flow as a producer, the console and an observer see them."""

import itertools
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, cast

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from parking import wire
from parking.consumer import messages
from parking.consumer.conformance import contract
from parking.consumer.conformance.contract import Applied
from parking.fingerprint import fingerprint
from parking.malformed import Malformed
from parking.partitioner import partition
from parking.record import Headers, Record
from parking.wire import Announcement, Command, Outcome, names

PARTITIONS = 2
SOURCE_BYTES, BLOCK_BYTES = 1_048_588, 262_144
_Found = TypeVar("_Found")


class Violation(Exception):
    """The implementation did not do what it must. The message says what was expected and what happened."""


def same(what: str, expected: object, found: object) -> None:
    """Raises Violation where they differ."""
    if expected != found:
        raise Violation(f"{what}: expected {expected!r}, found {found!r}")


class Parked(NamedTuple):
    """A record of the parking topic, as it is and as it reads."""

    record: Record
    reads: Announcement | Outcome


class Topics(NamedTuple):
    """The names of a flow's topics; `effects` is the suite's own."""

    source: str
    parking: str
    replay: str
    effects: str


class Line:
    """Sends to and reads from the topics of one flow. `seconds` is how long anything is waited for."""

    def __init__(
        self, settings: Mapping[str, Any], flow: str, topics: Topics, *, secret: bytes | None, seconds: float
    ) -> None:
        self.flow, self.topics, self.secret, self.seconds = flow, topics, secret, seconds
        self._settings = dict(settings)
        self._producer = Producer({**settings, "enable.idempotence": True, "linger.ms": 0})
        self._tokens = itertools.count(int(time.time()) * 1000)
        self._numbers = itertools.count(1)
        self._run = f"{time.time_ns():x}"
        self._news = threading.Condition()
        self._ended = False
        self.parked: list[Parked] = []
        self.malformed: list[str] = []
        self.effects: list[Applied] = []

    def make_topics(self) -> None:
        """Those that are missing, with the settings that the gate needs (docs/protocol.md, Topics)."""
        admin = AdminClient(self._settings)
        there = admin.list_topics(timeout=30).topics
        sizes = zip(self.topics, (SOURCE_BYTES, *[SOURCE_BYTES + BLOCK_BYTES] * 3), strict=True)
        wanted = [self._topic(name, size) for name, size in sizes if name not in there]
        for made in admin.create_topics(wanted).values() if wanted else ():
            made.result(timeout=30)

    def _topic(self, name: str, size: int) -> NewTopic:
        partitions = 1 if name == self.topics.effects else PARTITIONS
        return NewTopic(name, partitions, config={"cleanup.policy": "delete", "max.message.bytes": str(size)})

    def watch(self) -> None:
        """Begin to read what is announced and what takes effect from now on."""
        consumer = Consumer({**self._settings, "group.id": "siding-conformance", "enable.auto.commit": False})
        for topic in (self.topics.parking, self.topics.effects):
            for number in consumer.list_topics(topic, timeout=30).topics[topic].partitions:
                place = TopicPartition(topic, number)
                place.offset = _end(consumer, place)
                consumer.incremental_assign([place])
        threading.Thread(target=self._read, args=(consumer,), daemon=True).start()

    def end(self) -> None:
        self._ended = True

    # sending

    def name(self, what: str) -> str:
        """A name that no earlier run and no other case has."""
        return f"{what}-{self._run}-{next(self._numbers)}"

    def token(self) -> int:
        """Larger than every one before."""
        return next(self._tokens)

    def source(self, key: bytes | None, value: bytes | None, headers: Headers = ()) -> Record:
        """A source record, delivered."""
        place = 0 if key is None else partition(key, PARTITIONS)
        return self._deliver(self.topics.source, place, key, value, headers)

    def event(self, key: str, event_id: str, *, fail: bool = False, wait_ms: int = 0) -> Record:
        """A source record for the contract's handler."""
        headers: Headers = (("event-id", event_id.encode()),)
        value = contract.value(fail=fail, wait_ms=wait_ms, n=next(self._numbers))
        return self.source(key.encode(), value, headers)

    def command(self, command: Command) -> None:
        """A replay record, delivered; signed where the flow has a secret."""
        key, value, headers = wire.command.encode(command, self.secret)
        self.replay_record(key, value, headers)

    def replay_record(self, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        """Any record of the replay topic."""
        self._deliver(self.topics.replay, partition(key or b"", PARTITIONS), key, value, headers)

    def _deliver(self, topic: str, place: int, key: bytes | None, value: bytes | None, headers: Headers) -> Record:
        done: list[Message] = []
        failed: list[object] = []

        def delivered(error: object, message: Message) -> None:
            (failed if error else done).append(error or message)  # type: ignore[arg-type]

        self._producer.produce(topic, value, key, place, headers=list(headers), on_delivery=delivered)
        self._producer.flush(self.seconds)
        if not done:
            raise KafkaException(f"{topic}: not delivered: {failed}")
        at = done[0]  # a report of delivery has no headers
        return Record(topic, place, at.offset() or 0, at.timestamp()[1], key, value, headers)

    # reading

    def wait(self, what: str, look: Callable[[], _Found | None]) -> _Found:
        """What `look` finds, as soon as it finds something. Raises Violation when that takes too long."""
        until = time.monotonic() + self.seconds
        with self._news:
            while not (found := look()):
                if not self._news.wait(max(0.0, until - time.monotonic())) or time.monotonic() >= until:
                    raise Violation(f"expected: {what}; nothing like it came within {self.seconds:g} s")
            return found

    def announced(self, event_id: str, kind: str) -> Parked:
        """Wait for the announcement of an event."""

        def look() -> Parked | None:
            for one in self.parked:
                if isinstance(one.reads, Announcement) and (one.reads.event_id, one.reads.kind) == (event_id, kind):
                    return one
            return None

        return self.wait(f"{kind} announcement of {event_id}", look)

    def answered(self, token: int, outcome: str, event_id: str | None = None, *, times: int = 1) -> Outcome:
        """Wait for an outcome under this token (the `times`-th such). Raises Violation at once where another came."""

        def look() -> Outcome | None:
            answers = self._answers(token, event_id)
            for answer in answers:
                if answer.outcome != outcome:
                    raise Violation(
                        f"{event_id or 'marker'}: expected {outcome}, answered {answer.outcome}"
                        + (f" ({answer.reason})" if answer.reason else "")
                    )
            return answers[times - 1] if len(answers) >= times else None

        return self.wait(f"outcome {outcome} for {event_id or 'the marker'} under token {token}", look)

    def released(self, token: int) -> None:
        """Wait until the newest answer to the marker of this token is `released`; others may have come before."""

        def look() -> bool:
            return [answer.outcome for answer in self._answers(token, None)][-1:] == [names.RELEASED]

        self.wait(f"outcome {names.RELEASED} for the marker under token {token}", look)

    def _answers(self, token: int, event_id: str | None) -> list[Outcome]:
        told = [one.reads for one in self.parked if isinstance(one.reads, Outcome)]
        return [answer for answer in told if (answer.token, answer.event_id) == (token, event_id)]

    def took_effect(self, event_id: str) -> Applied:
        """Wait for the effect of an event."""
        return self.wait(
            f"effect of {event_id}",
            lambda: next((effect for effect in self.effects if effect.event_id == event_id), None),
        )

    def effects_are(self, key: str, expected: list[str]) -> None:
        """Raises Violation unless these events, in this order, are all that took effect on the key until now."""
        same(f"effects of {key}", expected, self.effects_of(key))

    def has_no_effect(self, key: str) -> None:
        self.effects_are(key, [])

    def effects_of(self, key: str) -> list[str]:
        """Event ids in the order of the effects on the key until now, each stored effect once."""
        other, fence = self.name("k"), self.name("e")
        self.event(other, fence)
        self.took_effect(fence)  # effects are sent in the order in which they were stored
        with self._news:
            stored = {effect.number: effect for effect in self.effects if effect.key == key.encode()}
            return [effect.event_id for effect in stored.values()]

    def _read(self, consumer: Consumer) -> None:
        while not self._ended:
            message = consumer.poll(0.2)
            if message is not None and not message.error():
                with self._news:
                    self._note(messages.record(message))
                    self._news.notify_all()
        consumer.close()

    def _note(self, record: Record) -> None:
        try:
            if record.topic == self.topics.effects:
                self.effects.append(contract.applied(record))
            else:
                self.parked.append(Parked(record, wire.decode_parking(record)))
        except (Malformed, ValueError) as error:
            self.malformed.append(f"{record.coordinates}: {error}")

    # what the console would make of it

    def apply(self, parked: Announcement, token: int, *, value: bytes | None = None, **changes: Any) -> Command:
        """The command that applies an event, with another value if one is given."""
        sent = parked.value if value is None else value
        return self._command(
            names.APPLY, parked, token, value=sent, fingerprint=fingerprint(parked.key, sent, parked.headers), **changes
        )

    def skip(self, parked: Announcement, token: int) -> Command:
        return self._command(names.SKIP, parked, token, value=None, fingerprint=parked.fingerprint)

    def hold(self, parked: Announcement, token: int) -> Command:
        """The command that holds an event again, at the position at which the console has it."""
        return self._command(
            names.HOLD,
            parked,
            token,
            value=parked.value,
            fingerprint=fingerprint(parked.key, parked.value, parked.headers),
            position=parked.position,
            kind=parked.kind,
            attempt_number=len(parked.attempts),
        )

    def release(self, key: str, token: int) -> Command:
        return Command(names.RELEASE, self.flow, key.encode(), token, self._replay_id(token))

    def _command(self, action: str, parked: Announcement, token: int, **members: Any) -> Command:
        fields = {
            "hold_key": cast("bytes", parked.key),
            "event_id": parked.event_id,
            "key": parked.key,
            "headers": parked.headers,
            "source": parked.source,
            "replay_id": self._replay_id(token),
        }
        return Command(action=action, flow=self.flow, token=token, **{**fields, **members})

    def _replay_id(self, token: int) -> str:
        return f"conformance-{token}"


def _end(consumer: Consumer, place: TopicPartition) -> int:
    """Where the log of the partition ends; a new topic has no leader for a moment."""
    for _ in range(100):
        try:
            return consumer.get_watermark_offsets(place, timeout=30)[1]
        except KafkaException:
            time.sleep(0.1)
    raise Violation(f"{place.topic}/{place.partition}: Kafka does not say where the log ends")
