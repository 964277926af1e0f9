"""The gated Kafka topic: replay records that the consumer's ledger accepts or refuses (DESIGN sections 4 and 5)."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings

from parking import partitioner
from parking.coordinates import Coordinates
from parking.errors import Refused
from parking.models import Flow, ParkedEvent
from parking.wire import Command, Wire, command, names
from replay import kafka_out
from replay.kafka_out import Delivery, Outgoing
from replay.models import Replay, Step
from replay.plan import Planned
from replay.targets import content, topic

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BLOCK = 2048  # the block of a replay record without id and key: names, numbers, digests, a topic's name
SHOWN = 5


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
    too_large = [name for name, size in _sizes(planned) if size > replay_topic.largest]
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
    for step, sent in zip(steps, content.of(steps), strict=True):
        refusal = content.unsound(step, sent)
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


def _encode(replay: Replay, step: Step, sent: content.Bytes) -> Wire:
    hold_key = bytes(replay.quarantine.hold_key.key)
    return command.encode(
        Command(
            action=_ACTIONS[Step.Action(step.action)],
            flow=replay.flow.name,
            hold_key=hold_key,
            token=replay.token or 0,
            replay_id=str(replay.pk),
            event_id=step.event_state.event.event_id,
            key=hold_key if sent is content.SCRUBBED else sent.key,
            value=sent.value,
            headers=sent.headers,
            source=_source(step.event_state.event),
            fingerprint=bytes(step.fingerprint),
            **(_place(step) if step.action == Step.Action.HOLD else {}),
        ),
        settings.FLOW_SECRETS.get(replay.flow.name),
    )


_ACTIONS = {
    Step.Action.APPLY: names.APPLY,
    Step.Action.AMEND: names.APPLY,
    Step.Action.SKIP: names.SKIP,
    Step.Action.HOLD: names.HOLD,
}


def _place(step: Step) -> dict[str, Any]:
    """Where and as what a forgotten event is to be held."""
    event = step.event_state
    return {"position": step.position, "kind": event.kind, "attempt_number": event.attempt_count}


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


def _sizes(planned: Sequence[Planned]) -> Iterable[tuple[str, int]]:
    """Event id and size of each record. Raises Refused for one whose bytes are not those that would be approved."""
    for one, sent in content.checked(planned):
        value = None if one.action == Step.Action.SKIP else sent.value
        block = ((names.KEY, sent.key), (names.EVENT_ID, one.event_id.encode("utf-8", "surrogatepass")))
        yield one.event_id, kafka_out.size(Wire(sent.key, value, (*sent.headers, *block))) + BLOCK
