"""A plain Kafka topic whose consumer has no gate (DESIGN section 5): one event at a time, its outcome inferred.

The record is what the consumer had been given, without the headers of its failure, with a new timestamp; behind its
own headers go its event id, the replay and the token, so that it is known when it fails and is parked again.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from parking.errors import Refused
from parking.models import EventState, Flow, ParkedEvent
from parking.wire import Wire, names
from replay import kafka_out
from replay.kafka_out import Delivery, Outgoing
from replay.models import Replay, Step
from replay.plan import Planned
from replay.targets import content, topic
from replay.targets.placement import Placement, place

SHOWN = 5
LARGEST = 2**63 - 1
EPOCH, MS = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)


def check(flow: Flow, planned: Sequence[Planned]) -> topic.Topic:
    """The topic, if it can take these events: it is never created by us.

    Raises Refused if it is missing or too small for one of them, is the parking topic itself, or the bytes of one are
    no longer stored; Unreachable if Kafka does not answer.
    """
    if flow.parks_on(flow.replays_to):
        raise Refused(f"Flow {flow.name} would replay into its own parking topic: correct its target topic.")
    there = topic.read(flow.cluster, flow.replays_to)
    too_large = [name for name, size in _sizes(planned) if size > there.largest]
    if too_large:
        raise Refused(
            f"Topic {there.name} takes at most {there.largest} bytes; {len(too_large)} event(s) of this plan are "
            f"larger: {', '.join(too_large[:SHOWN])}. Raise max.message.bytes, amend or skip them."
        )
    return there


def send(replay: Replay, steps: Sequence[Step], *, largest: int, seconds: float) -> list[Delivery]:
    """Send the first step, and nothing behind it; one Delivery each. A step to be skipped is done without sending."""
    first, *later = steps
    return [_send(replay, first, largest, seconds), *(Delivery(refused="one event at a time") for _ in later)]


def not_guaranteed(flow: Flow) -> list[str]:
    """What a replay to this flow's target does not guarantee, one sentence each, for who asks and who approves."""
    group, wait = flow.consumer_group, flow.settle_after_seconds
    later = f", {wait} s have passed" if wait else ""
    order = (
        "A newer event of this key may take effect before, between or after these: its consumer does not hold the key."
    )
    outcome = f"An outcome is inferred: applied is what group {group} has committed past{later} and not parked again."
    return [
        f"{order} The order among these is kept.",
        f"{outcome} If it commits before it has processed, or parks later than that, this is wrong.",
        "An event may take effect twice, unless the consumer itself remembers what it has applied.",
    ]


def notes(flow: Flow, planned: Sequence[Planned], partitions: int) -> list[str]:
    """What people should know about where these events go, into a topic of so many partitions."""
    sent = [one for one in planned if one.action != Step.Action.SKIP]
    what = content.of(sent[:1])[0] if sent else None
    if what is None:
        return []
    note = _placed(flow, [one.event_state_id for one in sent], _key(sent[0].event_id, what), partitions).note
    return [note] if note else []


def _sizes(planned: Sequence[Planned]) -> Iterable[tuple[str, int]]:
    for one, what in content.checked(planned):
        if one.action != Step.Action.SKIP:
            wire = _wire(one.event_id, what, replay_id=LARGEST, token=LARGEST, source_ms=LARGEST)
            yield one.event_id, kafka_out.size(wire)


def _send(replay: Replay, step: Step, largest: int, seconds: float) -> Delivery:
    if step.action == Step.Action.SKIP or step.event_state.state != EventState.State.PARKED:
        return Delivery(acked=True)  # settled meanwhile, by late evidence of another replay
    (what,) = content.of([step])
    refusal = content.unsound(step, what)
    if refusal or what is None:
        return Delivery(refused=refusal)
    event = step.event_state.event
    event_id, source_ms = event.exact_event_id, None if event.source_at is None else (event.source_at - EPOCH) // MS
    wire = _wire(event_id, what, replay_id=replay.pk, token=replay.token or 0, source_ms=source_ms)
    to = [Outgoing(wire, _partition(replay, _key(event_id, what)))]
    flow = replay.flow
    (delivery,) = kafka_out.produce(flow.cluster, flow.replays_to, to, largest=largest, seconds=seconds)
    return delivery


def _wire(event_id: str, what: content.Bytes, *, replay_id: int, token: int, source_ms: int | None) -> Wire:
    carried: list[tuple[str, bytes | None]] = [
        (names.EVENT_ID, event_id.encode("utf-8", "surrogatepass")),
        (names.REPLAY_ID, b"%d" % replay_id),
        (names.TOKEN, b"%d" % token),
    ]
    if source_ms is not None:  # the record gets a new timestamp: an old one may be deleted at once by retention
        carried.append((names.SOURCE_TIMESTAMP, b"%d" % source_ms))
    return Wire(what.key, what.value, (*what.headers, *carried))


def _key(event_id: str, what: content.Bytes) -> bytes:
    """What decides the partition where the source's is not there: the record's key, or the event id without one."""
    return event_id.encode("utf-8", "surrogatepass") if what.key is None else what.key


def _partition(replay: Replay, key: bytes) -> int:
    """One partition for all that this replay sends of a key: its steps and the number of partitions are frozen."""
    sent = replay.steps.exclude(action=Step.Action.SKIP).values_list("event_state_id", flat=True)
    return _placed(replay.flow, list(sent), key, replay.partitions or 1).partition


def _placed(flow: Flow, event_ids: Sequence[int], key: bytes, partitions: int) -> Placement:
    events = ParkedEvent.objects.filter(pk__in=event_ids).values_list("source_topic", "source_partition").distinct()
    sources = {partition if name == flow.source_topic else None for name, partition in events}
    return place(sources, key, partitions)
