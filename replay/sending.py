"""Steps on their way out: recorded before they are sent, acknowledged after; what is not acknowledged is sent again.

A step that is in flight without an acknowledgement may be in the log or not: its worker died, or Kafka did not answer.
Nothing later is sent before it has been sent again; the consumer answers the second copy with the fact.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from replay import lease as leases
from replay import settle, states, targets
from replay.kafka_out import Delivery
from replay.lease import Lease
from replay.models import Replay, Step
from replay.verdict import Verdict

MOST_SENDS = 2
RESERVE = 2.0


def in_flight(replay: Replay) -> list[Step]:
    """The steps that are sent and unanswered, in order."""
    rows = replay.steps.filter(state=Step.State.IN_FLIGHT).select_related("event_state__event")
    return list(rows.order_by("ordinal"))


def overdue(replay: Replay, step: Step, now: datetime) -> bool:
    """Whether its outcome should have come by now. One that may still be under way with a lost worker is not late."""
    seconds = replay.flow.outcome_timeout_seconds + (0 if replay.flow.gated else replay.flow.settle_after_seconds)
    if step.acked_at is None:
        seconds = max(seconds, settings.REPLAY_LEASE_SECONDS)
    return step.sent_at is not None and step.sent_at + timedelta(seconds=seconds) <= now


def upcoming(replay: Replay, in_flight: int, now: datetime) -> list[Step]:
    """The next steps: as many as the window has room for and the pace allows within one second."""
    just_sent = replay.steps.filter(sent_at__gt=now - timedelta(seconds=1)).count()
    room = min(max(1, replay.window) - in_flight, max(1, replay.pace_per_second) - just_sent)
    rows = replay.steps.filter(state=Step.State.PENDING).select_related("event_state__event").order_by("ordinal")
    return list(rows[: max(0, room)])


def record(steps: Sequence[Step]) -> None:
    """Record that the steps are about to be sent, in the caller's transaction. A send that nobody acknowledged is not
    counted again."""
    again = Q(sends__gt=0, acked_at__isnull=True)
    moved = Step.objects.filter(pk__in=[step.pk for step in steps], state__in=("pending", "in_flight")).update(
        state=Step.State.IN_FLIGHT,
        sends=F("sends") + Case(When(again, then=Value(0)), default=Value(1)),
        sent_at=timezone.now(),
        acked_at=None,
    )
    if moved != len(steps):
        raise states.ImpossibleMove("step", "in_flight", ["pending", "in_flight"])


def give_up(steps: Sequence[Step]) -> None:
    """The steps had no outcome in time: `unconfirmed`, which says that nobody knows."""
    settle.record([(step.pk, Verdict("unconfirmed", "no outcome in time", 0)) for step in steps])


def send(lease: Lease, replay: Replay, steps: Sequence[Step]) -> str:
    """Send recorded steps and record their acknowledgements; why some are not acknowledged, empty if all are.

    Nothing is sent that could still be under way when the lease ends. Raises LeaseLost.
    """
    seconds = seconds_to_send(lease)
    if seconds <= 0:
        return "the worker's lease is nearly over"
    target = targets.of(replay.flow)
    deliveries = target.send(replay, steps, largest=replay.largest or 0, seconds=seconds)
    with leases.held(lease):
        _acknowledge(steps, deliveries, gated=replay.flow.gated)
    return why_unknown(deliveries)


def seconds_to_send(lease: Lease) -> float:
    """How long a delivery may take: at most a third of a lease, and never up to its end."""
    return min(settings.REPLAY_LEASE_SECONDS / 3, lease.seconds_left - RESERVE)


def why_unknown(deliveries: Sequence[Delivery]) -> str:
    unknown = next((one for one in deliveries if not one.acked and not one.refused), None)
    return "" if unknown is None else f"Kafka does not acknowledge ({unknown.error or 'no answer in time'})"


def _acknowledge(steps: Sequence[Step], deliveries: Sequence[Delivery], *, gated: bool) -> None:
    pairs = list(zip(steps, deliveries, strict=True))
    acked = [step.pk for step, delivery in pairs if delivery.acked]
    Step.objects.filter(pk__in=acked, state=Step.State.IN_FLIGHT).update(acked_at=timezone.now())
    for step, delivery in pairs:
        if delivery.offset is not None and not gated:
            Step.objects.filter(pk=step.pk).update(sent_partition=delivery.partition, sent_offset=delivery.offset)
    refused = [(step.pk, Verdict("failed", f"not sent: {one.refused}", 0)) for step, one in pairs if one.refused]
    if refused:
        settle.record(refused)
