"""How far intake is in the parking topics of flows, and when Kafka may begin to delete what it has not read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from parking.models import Flow, IntakePosition


@dataclass(frozen=True, slots=True)
class Reach:
    """`unread` records at the last look, None where nobody has looked; of all partitions.

    `loss_from`: if intake read nothing more from now on, records could be lost from then on, None where they are not.
    `kept` is the shortest retention time; None where Kafka does not tell, or deletes nothing for its age (`for_ever`).
    """

    partitions: int = 0
    unread: int | None = None
    looked_at: datetime | None = None
    moved_at: datetime | None = None
    loss_from: datetime | None = None
    kept: timedelta | None = None
    for_ever: bool = False
    by_size: bool = False

    @property
    def left(self) -> timedelta | None:
        return None if self.loss_from is None else max(timedelta(0), self.loss_from - timezone.now())

    @property
    def urgency(self) -> str:
        """`poison` in the last quarter of the retention time, `held` in its second half."""
        if self.left is None or not self.kept:
            return ""
        share = self.left / self.kept
        return "poison" if share < 0.25 else "held" if share < 0.5 else ""


def of_flows(flows: Iterable[Flow]) -> Mapping[int, Reach]:
    """By flow id: one query for all of them."""
    flows = list(flows)
    found = positions(flows)
    return {flow.pk: of([one for one in found if _is_of(flow, one)]) for flow in flows}


def positions(flows: Sequence[Flow]) -> list[IntakePosition]:
    """Of every partition of the newest life of each topic that one of these flows parks on; read with their topics."""
    rows = IntakePosition.objects.of_now().filter(topic__cluster__in={flow.cluster_id for flow in flows})
    return [one for one in rows.select_related("topic") if any(_is_of(flow, one) for flow in flows)]


def _is_of(flow: Flow, position: IntakePosition) -> bool:
    return position.topic.cluster_id == flow.cluster_id and flow.parks_on(position.topic.name)


def of(positions: Sequence[IntakePosition]) -> Reach:
    """Of these partitions together: read with their topics."""
    told = [topic.retention_ms for topic in (one.topic for one in positions) if topic.retention_ms is not None]
    kept = min((ms for ms in told if ms >= 0), default=None)
    return Reach(
        partitions=len(positions),
        unread=sum(lags) if (lags := [one.lag for one in positions if one.lag is not None]) else None,
        looked_at=min((one.looked_at for one in positions if one.looked_at), default=None),
        moved_at=max((one.moved_at for one in positions), default=None),
        loss_from=min((one.loss_from for one in positions if one.loss_from), default=None),
        kept=None if kept is None else timedelta(milliseconds=kept),
        for_ever=bool(told) and kept is None,
        by_size=any((one.topic.retention_bytes or -1) >= 0 for one in positions),
    )
