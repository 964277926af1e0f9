"""How fast the index, the search and retention are, in one run on a database of its own.

    .venv/bin/python -m tests.benchmarks.search [events]

Events of about 1 kB over five days, sixty of a key, one attempt each. Searches are timed against the plain
`ORDER BY id DESC LIMIT 50` over the same index, which falls for the planner's estimates. A table for people, then one
JSON object as the last line.
"""

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

django.setup()

from django.db import connection, transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from parking import days  # noqa: E402
from parking.actor import system  # noqa: E402
from parking.models import Cluster, EventState, Flow, Team  # noqa: E402
from parking.retention import drop, scrub, sweep  # noqa: E402
from parking.search.find import find  # noqa: E402
from parking.search.grammar import parse  # noqa: E402
from parking.search.index import catch_up  # noqa: E402
from parking.search.question import Scope, condition  # noqa: E402

DAYS = 5
FLOWS = 4
REPEAT = 30

FILL = """
INSERT INTO parking_holdkey (flow_id, digest, key, last_token, highest_floor, released_position)
SELECT (%(flows)s::bigint[])[1 + n %% {flows}], sha256(('acc-' || n)::bytea), ('acc-' || n)::bytea, 0, 0, 0
FROM generate_series(1, %(keys)s) AS n;
INSERT INTO parking_quarantine (hold_key_id, flow_id, state, poison, held, settled, depth_bucket, last_position,
    opened_at, last_at, released_at, first_error)
SELECT id, flow_id, 'released', 0, 0, 0, 0, 0, now(), now(), now(), '' FROM parking_holdkey;
CREATE TEMPORARY TABLE chosen AS
SELECT nextval(pg_get_serial_sequence('parking_eventstate', 'id')) AS id, g.n, q.id AS quarantine, q.flow_id,
    %(first)s::timestamptz + g.n * (interval '{days} days' / (%(events)s + 1)) AS stored_at
FROM generate_series(1, %(events)s) AS g (n)
JOIN (SELECT row_number() OVER (ORDER BY id) AS n, id, flow_id FROM parking_quarantine) q ON q.n = 1 + g.n %% %(keys)s;
INSERT INTO parking_eventstate (id, flow_id, event_digest, stored_at, quarantine_id, position, kind, state,
    attempt_count, fate_token, settled_at)
SELECT id, flow_id, sha256(n::text::bytea), stored_at, quarantine, n, 'poison', 'applied', 1, 0, stored_at FROM chosen;
INSERT INTO parking_parkedevent (id, stored_at, cluster_id, dialect, event_id, event_type, parking_topic,
    parking_partition, parking_offset, parked_at, source_topic, source_partition, source_offset, consumer_group,
    fingerprint, error_type, error_message, blocked_by, unreadable_reason)
SELECT id, stored_at, %(cluster)s, 'native', 'evt-' || md5(n::text), 'order.created', 'orders-parking', 0, n, stored_at,
    'orders', n %% 12, n, 'g', '', 'com.example.Error' || n %% 60, 'amount ' || n || ' is not allowed', '', ''
FROM chosen;
INSERT INTO parking_attempt (event_state_id, token, number, error_type, message, stacktrace, validation_errors)
SELECT id, 0, 1, 'com.example.Error' || n %% 60, 'amount ' || n || ' is not allowed', repeat('at x ', 50), '[]'
FROM chosen;
INSERT INTO parking_eventpayload (id, stored_at, key, value, headers, raw_headers)
SELECT id, stored_at, ''::bytea, convert_to(format(
    '{{"order": {{"id": "ord-%%s", "total": %%s.50}}, "customer": "%%s", "marks": "everywhere %%s %%s %%s %%s", '
    '"text": "%%s"}}',
    n, n, md5('c' || n),
    CASE WHEN n %% 1000 = 0 THEN 'permille' END, CASE WHEN n %% 100 = 0 THEN 'percent' END,
    CASE WHEN n %% 10 = 0 THEN 'tenth' END, CASE WHEN n < %(events)s / 2 THEN 'older' END,
    (SELECT string_agg('word' || (random() ^ 3 * 20000)::int, ' ') FROM generate_series(1, 50) AS w WHERE w + n > 0)
), 'UTF8'), ''::bytea, ''::bytea FROM chosen;
ANALYZE;
"""


def main(count: int) -> None:
    connection.creation.create_test_db(verbosity=0)
    try:
        result = measure(count)
    finally:
        connection.creation.destroy_test_db("siding", verbosity=0)
    for name, value in result.items():
        print(f"{name:44} {value:>14,}")
    print(json.dumps(result))


def measure(count: int) -> dict[str, float]:
    first = timezone.now() - timedelta(DAYS + 3)
    flows = fill(count, first.replace(hour=0, minute=0, second=0, microsecond=0))
    result: dict[str, float] = {"events": count}
    seconds, _ = timed(catch_up)
    result["index_per_second"] = round(count / seconds)
    result["index_bytes_per_event"] = round(size() / count)
    result |= searches(flows, count)
    return result | retention(flows, count)


def fill(count: int, first: datetime) -> list[Flow]:
    days.ensure(first.date(), ahead=DAYS)
    cluster = Cluster.objects.create(name="main", bootstrap_servers="kafka:9092")
    common = {"cluster": cluster, "team": Team.objects.create(name="bench"), "payload_days": 1, "metadata_days": 1}
    flows = [
        Flow.objects.create(
            name=f"f{n}", source_topic=f"f{n}", consumer_group="g", parking_topic=f"p{n}", replay_topic="r", **common
        )
        for n in range(FLOWS)
    ]
    parameters: dict[str, Any] = {
        "flows": [flow.pk for flow in flows],
        "events": count,
        "keys": max(count // 60, 1),
        "first": first,
        "cluster": cluster.pk,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(FILL.format(flows=FLOWS, days=DAYS), parameters)
    return flows


def searches(flows: list[Flow], count: int) -> dict[str, float]:
    """Milliseconds of the first page with its count, at the 95th percentile; and of the plain statement."""
    chance = random.Random(3)
    some: Callable[[], int] = lambda: chance.randrange(1, count)  # noqa: E731
    questions: dict[str, Callable[[], str]] = {
        "unique": lambda: f"ord-{some()}",
        "event id begins with": lambda: f"evt-{chance.randbytes(3).hex()[:5]}*",
        "key begins with": lambda: f"acc-{some() // 60}*",
        "none": lambda: f"nowhere{some()}",
        "one of 1000": lambda: "permille",
        "one of 100": lambda: "percent",
        "one of 10": lambda: "tenth",
        "everywhere": lambda: "everywhere",
        "common, only in the older half": lambda: "older",
        "two words": lambda: f"percent Error{chance.randrange(60)}",
        "two common words": lambda: "tenth everywhere older",
    }
    ids = [flow.pk for flow in flows]
    result = {"one round trip to the database: ms p95": p95(lambda: EventState.objects.values_list("pk").first())}
    for name, question in questions.items():
        result[f"{name}: ms p95"] = p95(lambda: find(parse(question()), visible=ids, readable=ids))  # noqa: B023
        if "begins" not in name:
            plain = [timed(lambda: plainly(question(), ids))[0] for _ in range(5)]  # noqa: B023
            result[f"{name}: plain, ms median"] = round(statistics.median(plain) * 1000, 1)
    page = find(parse("tenth"), visible=ids, readable=ids)
    times = []
    for _ in range(20):
        seconds, page = timed(lambda: find(parse("tenth"), visible=ids, readable=ids, before=page.next))  # noqa: B023
        times.append(seconds)
    result["pages 2 to 21, one of 10: ms median"] = round(statistics.median(times) * 1000, 1)
    return result


def plainly(text: str, ids: list[int]) -> list[Any]:
    wanted = condition(parse(text), [Scope(flow, readable=True) for flow in ids])
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id FROM parking_eventsearch WHERE {wanted.sql} ORDER BY id DESC LIMIT 50",
            wanted.parameters,
        )
        rows: list[Any] = cursor.fetchall()
        return rows


def retention(flows: list[Flow], count: int) -> dict[str, float]:
    actor = system("watch")
    seconds, scrubbed = timed(lambda: sum(sum(iter(partial(scrub.scrub, flow=flow, actor=actor), 0)) for flow in flows))
    assert scrubbed == count
    looked, kept = timed(lambda: drop.look(timezone.now()))
    while kept is not None and not kept.events:
        looked, kept = timed(lambda: drop.look(timezone.now()))
    assert kept is not None
    dropped, done = timed(lambda: drop.drop(day=kept.day, actor=actor))
    assert done
    swept, events = timed(lambda: sum(iter(sweep.sweep, 0)))
    assert EventState.objects.count() == count - events
    return {
        "scrub_per_second": round(count / seconds),
        "look_at_a_day_ms": round(looked * 1000),
        "drop_a_day_ms": round(dropped * 1000),
        "events_of_that_day": kept.events,
        "sweep_per_second": round(events / swept),
    }


def size() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(%s::regclass) WHERE isleaf",
            ["parking_eventsearch"],
        )
        return int(cursor.fetchone()[0])


def p95(call: Callable[[], Any]) -> float:
    times = [timed(call)[0] for _ in range(REPEAT)]
    return round(statistics.quantiles(times, n=20)[-1] * 1000, 1)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
