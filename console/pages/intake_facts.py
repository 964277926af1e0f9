"""What intake does in the flows that the viewer may see: how fast, how far in each partition, and what it kept raw."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import F, Sum
from django.utils import timezone

from console.access import Access, Permission
from console.pages import reach
from parking import shared_topics
from parking.models import EventState, Flow, Incident, IntakePosition, Rollup

MINUTES = 10
MOST_PARTITIONS = 20
MOST_RAW = 5
LOST = ("gap", "compacted")


@dataclass(frozen=True, slots=True)
class Raw:
    """A record that is in no key; `why` is None where the viewer may not see payloads."""

    state: EventState
    why: str | None


def of(viewer: Access, flows: Sequence[Flow]) -> dict[str, Any]:
    """For the template status/intake.html; `lost` are the incidents of records that were or are being lost."""
    ids = [flow.pk for flow in flows]
    lost = Incident.objects.visible(ids).unresolved().filter(kind__in=LOST).select_related("flow")
    return {
        "minutes": MINUTES,
        "stored": stored(ids),
        "partitions": partitions(flows),
        "raw": raw(viewer, ids),
        "lost": list(lost[:20]),
    }


def stored(flow_ids: Sequence[int]) -> int:
    """Records of these flows that were stored in the last whole minutes."""
    minute = timezone.now().replace(second=0, microsecond=0)
    rows = Rollup.objects.filter(flow__in=flow_ids, minute__gte=minute - timedelta(minutes=MINUTES), minute__lt=minute)
    return int(rows.aggregate(all=Sum(F("poison") + F("held") + F("other")))["all"] or 0)


def partitions(flows: Sequence[Flow]) -> list[IntakePosition]:
    """Of the parking topics of these flows, those that are furthest behind first."""
    found = reach.positions(flows)
    return sorted(found, key=lambda one: (-(one.lag or 0), one.topic.name, one.partition))[:MOST_PARTITIONS]


def raw(viewer: Access, flow_ids: Sequence[int]) -> list[Raw]:
    """The latest ones."""
    readable = viewer.flow_ids(Permission.PAYLOADS)
    rows = shared_topics.raw(visible=flow_ids, readable=readable).select_related("event", "flow")[:MOST_RAW]
    return [Raw(row, row.event.unreadable_reason if row.flow_id in readable else None) for row in rows]
