"""What stands where: one row for each flow, the deepest trouble first; above it what needs this viewer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Count, F, Min, OuterRef, Q, Subquery, Sum
from django.db.models.functions import TruncHour
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from console import access
from console.pages import needs, reach
from console.pages.chips import Chip, Moving, chips, storms
from console.pages.reach import Reach
from console.show.bars import Bars, bars
from parking.alarms import readings
from parking.models import AlarmRule, Beat, Flow, Incident, Quarantine, Rollup
from replay import states
from replay.models import Replay

HOURS = 24
LATE = timedelta(seconds=60)
FAR = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Line:
    """One flow. `urgency` colours the age: poison at what its alarm rule says, held from half of it on."""

    flow: Flow
    poison: int
    held: int
    keys: int
    oldest: datetime | None
    urgency: str
    hours: Bars
    chips: list[Chip]
    firing: int
    reach: Reach

    @property
    def trouble(self) -> tuple[object, ...]:
        return (self.firing == 0, self.oldest or FAR, -(self.poison + self.held), self.flow.name)


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    ids = access.of(request.user).flow_ids()
    rows = sorted(lines(ids), key=lambda line: line.trouble)
    beat = readings.last_beat()
    context = {
        "lines": rows,
        "needs": needs.of(request),
        "keys": sum(line.keys for line in rows),
        "stopped_flows": sum(line.keys > 0 for line in rows),
        "waiting": sum(line.poison + line.held for line in rows),
        "oldest": min((line.oldest for line in rows if line.oldest), default=None),
        "beat": beat,
        "late": beat is None or timezone.now() - beat > LATE,
        "started": beat is not None or Beat.objects.exists(),
    }
    return render(request, "overview/live.html" if "live" in request.GET else "overview/overview.html", context)


def lines(flow_ids: Sequence[int]) -> list[Line]:
    """One for each of these flows: a fixed number of queries, however many there are."""
    standing, parked = _standing(flow_ids), _parked(flow_ids)
    moving, firing = _moving(flow_ids), _firing(flow_ids)
    stormy, limits = storms(flow_ids), _age_limits(flow_ids)
    last = Rollup.objects.filter(flow=OuterRef("pk")).order_by("-minute").values("minute")[:1]
    flows = Flow.objects.filter(pk__in=flow_ids).select_related("team").annotate(last_parked=Subquery(last))
    reached = reach.of_flows(flows)
    made = []
    for flow in flows:
        stop = standing.get(flow.pk, Standing())
        incidents = [*firing[flow.pk, None], *firing[None, flow.team_id]]
        shown = chips(flow, stop.keys, moving.get(flow.pk, []), incidents, stormy.get(flow.pk))
        made.append(
            Line(
                flow=flow,
                poison=stop.poison,
                held=stop.held,
                keys=stop.keys,
                oldest=stop.oldest,
                urgency=_urgency(stop.oldest, limits.get(flow.pk)),
                hours=_hours(parked[flow.pk]),
                chips=shown,
                firing=len(incidents),
                reach=reached[flow.pk],
            )
        )
    return made


@dataclass(frozen=True, slots=True)
class Standing:
    """What waits in one flow."""

    poison: int = 0
    held: int = 0
    keys: int = 0
    oldest: datetime | None = None


def _standing(flow_ids: Sequence[int]) -> dict[int, Standing]:
    stopped = Quarantine.objects.visible(flow_ids).unreleased().order_by()
    sums = stopped.values_list("flow").annotate(
        poisoned=Sum("poison"), behind=Sum("held"), stopped=Count("pk"), since=Min("oldest_at")
    )
    return {flow: Standing(*values) for flow, *values in sums}


def _parked(flow_ids: Sequence[int]) -> Mapping[int, Mapping[datetime, int]]:
    """Events by flow and hour."""
    recent = Rollup.objects.filter(flow__in=flow_ids, minute__gte=_first_hour()).order_by()
    sums = recent.annotate(hour=TruncHour("minute", tzinfo=UTC)).values_list("flow", "hour")
    found: dict[int, dict[datetime, int]] = defaultdict(dict)
    for flow, hour, events in sums.annotate(events=Sum(F("poison") + F("held") + F("other"))):
        found[flow][hour] = events
    return found


def _first_hour() -> datetime:
    now = timezone.now().astimezone(UTC)
    return now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)


def _hours(by_hour: Mapping[datetime, int]) -> Bars:
    hours = [_first_hour() + timedelta(hours=at) for at in range(HOURS)]
    titles = [f"{timezone.localtime(hour):%H:%M}" for hour in hours]
    return bars([by_hour.get(hour, 0) for hour in hours], titles, what="parked in 24 h", unit="hour")


def _moving(flow_ids: Sequence[int]) -> dict[int, list[Moving]]:
    """Living replays by flow: how many in which state, and how far."""
    living = Replay.objects.living().filter(flow__in=flow_ids).order_by()
    done = Count("steps", filter=Q(steps__state__in=states.DONE))
    found: dict[int, list[Moving]] = defaultdict(list)
    rows = living.values_list("flow", "state").annotate(
        replays=Count("pk", distinct=True), done=done, total=Count("steps"), first=Min("pk")
    )
    for flow, *values in rows:
        found[flow].append(Moving(*values))
    return found


def _firing(flow_ids: Sequence[int]) -> Mapping[tuple[int | None, int | None], list[Incident]]:
    """Unresolved incidents by (flow, None), those of a whole team by (None, team)."""
    found: dict[tuple[int | None, int | None], list[Incident]] = defaultdict(list)
    for incident in Incident.objects.visible(flow_ids).by_trouble():
        found[incident.flow_id, None if incident.flow_id else incident.team_id].append(incident)
    return found


def _age_limits(flow_ids: Sequence[int]) -> dict[int, int]:
    """From how many seconds on the age of a flow rings: the lowest of its rules."""
    rules = AlarmRule.objects.filter(flow__in=flow_ids, measure=AlarmRule.Measure.AGE, enabled=True).order_by()
    return dict(rules.values_list("flow").annotate(Min("threshold")))


def _urgency(oldest: datetime | None, limit: int | None) -> str:
    if oldest is None or limit is None:
        return ""
    age = (timezone.now() - oldest).total_seconds()
    return "poison" if age >= limit else "held" if age >= limit / 2 else ""
