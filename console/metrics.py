"""What Siding measures of itself, for a scraper, at the scrape: counters that intake keeps, bounded walks of indexes.

Labels name flows, processes, states and kinds; nothing of an event, a key, a topic or a person is in them.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Count, Max, Min, Q, Sum
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from parking.models import Beat, Delivery, Flow, Incident, IntakePosition, Quarantine, Rollup
from parking.search import position
from replay.models import Replay

LONGEST = "5s"
"""For one query: a scrape never becomes the load that it should show."""
MOST_RAW = 10_000
SQL_RAW = """
SELECT f.id, (SELECT count(*) FROM (
    SELECT FROM parking_eventstate e WHERE e.flow_id = f.id AND e.kind IN ('unattributed', 'broken') LIMIT %s
) AS raw) FROM parking_flow f
"""
MINUTE = timedelta(minutes=1)
MEASURED = ("poison", "held")


def text() -> bytes:
    """All of it in Prometheus's text format, UTF-8. Raises the database's error where it does not answer in time."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Now())
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{LONGEST}'")
        return generate_latest(registry)


class _Now:
    """A collector of prometheus_client: what is so at the moment of the scrape."""

    def collect(self) -> Iterator[Metric]:
        now, flows = timezone.now(), list(Flow.objects.select_related("cluster"))
        yield from _processes(now)
        yield from _logs(now, flows)
        yield from _stored(now, flows)
        yield from _waiting(now, flows)
        yield from _troubles(flows)
        yield from _behind(now)


def _gauge(name: str, says: str, labels: Iterable[str] = ()) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"siding_{name}", says, labels=list(labels))


def _processes(now: datetime) -> Iterator[Metric]:
    beats = _gauge("last_beat_seconds", "Seconds since a process of this kind last gave a sign of life.", ["process"])
    for process, last in Beat.objects.values_list("process").annotate(Max("at")).order_by("process"):
        beats.add_metric([process], (now - last).total_seconds())
    yield beats


def _logs(now: datetime, flows: Iterable[Flow]) -> Iterator[Metric]:
    lag = _gauge("intake_lag", "Records of its parking topics that intake had not read at its last look.", ["flow"])
    loss = _gauge("intake_loss_seconds", "Seconds until Kafka may delete what is unread, for its age.", ["flow"])
    rows = list(IntakePosition.objects.of_now().select_related("topic"))
    for flow in flows:
        own = [row for row in rows if row.topic.cluster_id == flow.cluster_id and flow.parks_on(row.topic.name)]
        lags = [row.lag for row in own if row.lag is not None]
        losses = [row.loss_from for row in own if row.loss_from is not None]
        if lags:
            lag.add_metric([flow.name], sum(lags))
        if losses:
            loss.add_metric([flow.name], (min(losses) - now).total_seconds())
    yield from (lag, loss)


def _stored(now: datetime, flows: Iterable[Flow]) -> Iterator[Metric]:
    minute = now.replace(second=0, microsecond=0) - MINUTE
    stored = _gauge("stored_last_minute", "Records stored in the last whole minute.", ["flow", "kind"])
    found = {row.flow_id: row for row in Rollup.objects.filter(flow__in=[f.pk for f in flows], minute=minute)}
    for flow in flows:
        row = found.get(flow.pk)
        for kind in (*MEASURED, "other"):
            stored.add_metric([flow.name, kind], getattr(row, kind) if row else 0)
    yield stored


def _waiting(now: datetime, flows: Iterable[Flow]) -> Iterator[Metric]:
    depth = _gauge("waiting", "Parked events that wait.", ["flow", "kind"])
    keys = _gauge("stopped_keys", "Keys that are stopped.", ["flow"])
    age = _gauge("oldest_seconds", "Age of the oldest event that waits; 0 where none does.", ["flow"])
    sums = Quarantine.objects.unreleased().order_by().values_list("flow")
    found = {row[0]: row[1:] for row in sums.annotate(Sum("poison"), Sum("held"), Count("pk"), Min("oldest_at"))}
    for flow in flows:
        poison, held, stopped, oldest = found.get(flow.pk, (0, 0, 0, None))
        for kind, count in zip(MEASURED, (poison, held), strict=True):
            depth.add_metric([flow.name, kind], count)
        keys.add_metric([flow.name], stopped)
        age.add_metric([flow.name], max(0.0, (now - oldest).total_seconds()) if oldest else 0)
    yield from (depth, keys, age)


def _troubles(flows: Iterable[Flow]) -> Iterator[Metric]:
    names = {flow.pk: flow.name for flow in flows}
    raw = _gauge("raw_records", f"Records kept raw, in no key; not counted beyond {MOST_RAW}.", ["flow"])
    with connection.cursor() as cursor:
        cursor.execute(SQL_RAW, [MOST_RAW])
        for flow_id, count in cursor.fetchall():
            raw.add_metric([names.get(flow_id, "")], count)
    incidents = _gauge("incidents", "Incidents that are not resolved: gap, compacted, depth, …", ["flow", "kind"])
    rows = Incident.objects.unresolved().order_by().values_list("flow", "kind")
    for flow_id, kind, count in rows.annotate(Count("pk")):
        incidents.add_metric([names.get(flow_id, ""), kind], count)
    yield from (raw, incidents)


def _behind(now: datetime) -> Iterator[Metric]:
    replays = _gauge("replays", "Replays by state.", ["state"])
    counted = {state: Count("pk", filter=Q(state=state)) for state in Replay.State.values}
    for state, count in Replay.objects.aggregate(**counted).items():
        replays.add_metric([state], count)
    deliveries = _gauge("deliveries_pending", "Pages to owners that are not sent yet.")
    deliveries.add_metric([], Delivery.objects.open().count())
    lag = position.lag()
    events = _gauge("index_lag", f"Events that search does not find yet; not counted beyond {position.MOST_COUNTED}.")
    events.add_metric([], lag.events)
    seconds = _gauge("index_lag_seconds", "How long the first of them has been stored; 0 where there is none.")
    seconds.add_metric([], max(0.0, (now - lag.since).total_seconds()) if lag.since else 0)
    yield from (replays, deliveries, events, seconds)
