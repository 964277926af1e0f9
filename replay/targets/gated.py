"""The gated Kafka topic: replay records that the consumer's ledger accepts or refuses (DESIGN sections 4 and 5)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings

from parking import headers, partitioner
from parking.coordinates import Coordinates
from parking.errors import Refused
from parking.fingerprint import fingerprint
from parking.models import Amendment, EventPayload, EventState, Flow, ParkedEvent
from parking.record import Headers
from parking.wire import Command, Wire, command, names
from replay import kafka_out
from replay.kafka_out import Delivery, Outgoing
from replay.models import Replay, Step
from replay.plan import Planned
from replay.targets import topic

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CHUNK = 200
BLOCK = 2048  # the block of a replay record without id and key: names, numbers, digests, a topic's name
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Bytes:
    """What one event would send."""

    key: bytes | None
    value: bytes | None
    headers: Headers


SCRUBBED = Bytes(None, None, ())
"""What is left of an event whose bytes retention has removed: it can be skipped, under its hold key."""


def check(flow: Flow, planned: Sequence[Planned]) -> topic.Topic:
    """The replay topic, if it can take these events.

    Raises Refused if it is missing, compacted or too small for one of them, or the bytes of one are no longer stored;
    Unreachable if Kafka does not answer.
    """
    replay_topic = topic.read(flow.cluster, flow.replay_topic)
    if replay_topic.cleanup_policy not in ("", "delete"):
        raise Refused(
            f"Topic {replay_topic.name} has cleanup.policy={replay_topic.cleanup_policy}: records of one key would "
            "vanish. Set cleanup.policy=delete."
        )
    too_large = [name for name, size in _sizes(flow, planned) if size > replay_topic.largest]
    if too_large:
        raise Refused(
            f"Topic {replay_topic.name} takes at most {replay_topic.largest} bytes; {len(too_large)} event(s) of this "
            f"plan are larger: {', '.join(too_large[:SHOWN])}. Raise max.message.bytes, amend or skip them."
        )
    return replay_topic


def send(replay: Replay, steps: Sequence[Step], *, largest: int, seconds: float) -> list[Delivery]:
    """Send the steps in order; one Delivery each."""
    deliveries: list[Delivery] = []
    outgoing: list[Outgoing] = []
    for step, sent in zip(steps, _bytes_of(steps), strict=True):
        refusal = _unsound(step, sent)
        if refusal or sent is None:
            deliveries = [Delivery(refused=refusal)]
            break
        outgoing.append(_outgoing(replay, _encode(replay, step, sent)))
    rest = len(steps) - len(outgoing) - len(deliveries)
    deliveries += [Delivery(refused="an earlier record was refused") for _ in range(rest)]
    return _produce(replay, outgoing, largest=largest, seconds=seconds) + deliveries


def release(replay: Replay, *, largest: int, seconds: float) -> Delivery:
    """Send the release marker."""
    wire = command.encode(
        Command(
            action=names.RELEASE,
            flow=replay.flow.name,
            hold_key=bytes(replay.quarantine.hold_key.key),
            token=replay.token or 0,
            replay_id=str(replay.pk),
        ),
        settings.FLOW_SECRETS.get(replay.flow.name),
    )
    return _produce(replay, [_outgoing(replay, wire)], largest=largest, seconds=seconds)[0]


def _produce(replay: Replay, outgoing: Sequence[Outgoing], *, largest: int, seconds: float) -> list[Delivery]:
    flow = replay.flow
    return kafka_out.produce(flow.cluster, flow.replay_topic, outgoing, largest=largest, seconds=seconds)


def _outgoing(replay: Replay, wire: Wire) -> Outgoing:
    return Outgoing(wire, partitioner.partition(wire.key or b"", replay.partitions or 1))


def _unsound(step: Step | Planned, sent: Bytes | None) -> str:
    """Why the stored bytes are not what the plan says; empty if they are."""
    if sent is None:
        return "its bytes are no longer stored"
    if step.action != Step.Action.SKIP and fingerprint(sent.key, sent.value, sent.headers) != bytes(step.fingerprint):
        return "its stored bytes do not have its fingerprint (too large to be parked whole, or damaged)"
    return ""


def _encode(replay: Replay, step: Step, sent: Bytes) -> Wire:
    hold_key = bytes(replay.quarantine.hold_key.key)
    return command.encode(
        Command(
            action=names.SKIP if step.action == Step.Action.SKIP else names.APPLY,
            flow=replay.flow.name,
            hold_key=hold_key,
            token=replay.token or 0,
            replay_id=str(replay.pk),
            event_id=step.event_state.event.event_id,
            key=hold_key if sent is SCRUBBED else sent.key,
            value=sent.value,
            headers=sent.headers,
            source=_source(step.event_state.event),
            fingerprint=bytes(step.fingerprint),
        ),
        settings.FLOW_SECRETS.get(replay.flow.name),
    )


def _source(event: ParkedEvent) -> Coordinates | None:
    if not event.source_topic:
        return None
    partition, offset = event.source_partition, event.source_offset
    return Coordinates(
        event.source_topic,
        -1 if partition is None else partition,
        -1 if offset is None else offset,
        -1 if event.source_at is None else (event.source_at - EPOCH) // timedelta(milliseconds=1),
    )


def _bytes_of(steps: Iterable[Step | Planned]) -> list[Bytes | None]:
    """What each step sends, in their order: the amendment's value and headers where there is one."""
    steps = list(steps)
    payloads = _payloads([step.event_state_id for step in steps])
    amendments = Amendment.objects.in_bulk([step.amendment_id for step in steps if step.amendment_id])
    return [
        SCRUBBED
        if step.action == Step.Action.SKIP and step.event_state_id not in payloads
        else _merged(payloads.get(step.event_state_id), amendments.get(step.amendment_id or 0))
        for step in steps
    ]


def _payloads(ids: Sequence[int]) -> Mapping[int, EventPayload]:
    days = EventState.objects.filter(pk__in=ids).values_list("stored_at", flat=True)
    return EventPayload.objects.filter(stored_at__in=set(days)).in_bulk(ids)


def _merged(payload: EventPayload | None, amendment: Amendment | None) -> Bytes | None:
    if payload is None:
        return None
    written = amendment or payload
    value = None if written.value is None else bytes(written.value)
    return Bytes(None if payload.key is None else bytes(payload.key), value, headers.unpack(written.headers))


def _sizes(flow: Flow, planned: Sequence[Planned]) -> Iterable[tuple[str, int]]:
    """Event id and size of each record. Raises Refused for one whose bytes are not those that would be approved."""
    for start in range(0, len(planned), CHUNK):
        chunk = planned[start : start + CHUNK]
        for one, sent in zip(chunk, _bytes_of(chunk), strict=True):
            refusal = _unsound(one, sent)
            if refusal or sent is None:
                raise Refused(f"{one.event_id} cannot be replayed: {refusal}.")
            value = None if one.action == Step.Action.SKIP else sent.value
            block = ((names.KEY, sent.key), (names.EVENT_ID, one.event_id.encode("utf-8", "surrogatepass")))
            yield one.event_id, kafka_out.size(Wire(sent.key, value, (*sent.headers, *block))) + BLOCK
