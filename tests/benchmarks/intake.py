"""How fast intake is, as a ratio to a raw binary COPY of the same rows in the same run.

    make bench-intake            # five to ten minutes
    make bench-intake QUICK=1    # a tenth of the size, under two minutes

Records of about 1 kB with ten headers, a third each of the kit's own, of Spring and of Kafka Connect, 20 000 keys by
Zipf's law, 60 shapes of errors (`console.demo.life.stream`); real `manage.py intake` and `manage.py index` on Apache
Kafka and PostgreSQL: those that the environment names, else the benchmark starts its own. All is measured from the
store: a record counts when the position behind it is committed.

The raw COPY takes rows that intake has stored, of every table that it writes for each record, into bare copies of the
tables, with psycopg's `write_row` from Python values, while nothing else runs; before and after, the median counts.
Each part fills its topics before anybody reads them. A table for people, then one JSON object as the last line.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from subprocess import Popen
from typing import Any, NamedTuple

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402
from psycopg import Cursor  # noqa: E402

from parking.intake.flows import by_topic  # noqa: E402
from parking.intake.read import Arrived, read  # noqa: E402
from parking.models import Beat, Cluster, EventState, Flow, IndexPosition, IntakePosition, Team  # noqa: E402
from parking.record import Record  # noqa: E402
from tests.benchmarks.intake_world import PRODUCERS, Lot, process, resident_mb  # noqa: E402

TABLES = (
    "parking_eventstate",
    "parking_parkedevent",
    "parking_eventpayload",
    "parking_attempt",
    "parking_parkedrecord",
)
BURST, SHARED, LONG, WARM, COPIED, DECODED = 200_000, 600_000, 2_000_000, 100_000, 20_000, 3_000
PATIENCE = 120.0


class Sample(NamedTuple):
    at: float
    stored: int
    resident: float


def main(*, quick: bool) -> None:
    connection.creation.create_test_db(verbosity=0)
    try:
        measured = measure(10 if quick else 1)
    finally:
        connection.creation.destroy_test_db("siding", verbosity=0)
    for name, value in measured.items():
        print(f"{name:28} {json.dumps(value) if isinstance(value, dict) else f'{value:,}':>16}")
    print(json.dumps({name: measured[name] for name in ASKED_FOR}))


ASKED_FOR = ("ratio_one_process", "ratio_two_processes", "decay", "rss_growth_mb", "index_lag_s", "decode_us")


def measure(part: int) -> dict[str, Any]:
    cluster = Cluster.objects.create(name="bench", bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS)
    team = Team.objects.create(name="bench")
    at_ms = int(time.time() * 1000)
    beside, shared, long = (
        Lot(name, count, at_ms) for name, count in (("a", BURST // part), ("b", SHARED // part), ("c", LONG // part))
    )
    decode_us = decoding(beside)
    one, lag = beside_the_index(beside, cluster, team)
    copied = [raw_copy()]
    two = by_two(shared, cluster, team)
    samples = by_one(long, cluster, team)
    copied.append(raw_copy())
    raw = statistics.median(copied)
    return {
        "events": sum(lot.count for lot in (beside, shared, long)),
        "raw_copy_per_second": round(raw),
        "one_process_per_second": round(one),
        "two_processes_per_second": round(two),
        "alone_per_second": round(rate(samples)),
        "ratio_one_process": round(one / raw, 3),
        "ratio_two_processes": round(two / raw, 3),
        "decay": round(decay(samples, BURST // part), 3),
        "rss_growth_mb": round(growth(samples, WARM // part), 1),
        "index_lag_s": round(lag, 1),
        "decode_us": decode_us,
    }


# The parts


def beside_the_index(lot: Lot, cluster: Cluster, team: Team) -> tuple[float, float]:
    """A burst: records per second of one intake process, and seconds until search has all of it afterwards."""
    lot.fill()
    with process("index"), process("intake") as intake:
        wait(lambda: Beat.objects.filter(process="index").exists() and _intakes() == 1)
        lot.declare(cluster, team)
        samples = list(watch(lot.count, intake))
        ended = time.monotonic()
        last = EventState.objects.order_by("-pk").values_list("pk", flat=True)[0]
        wait(lambda: IndexPosition.objects.filter(event_id__gte=last).exists())
        lag = time.monotonic() - ended
    end(lot)
    return rate(samples), lag


def by_two(lot: Lot, cluster: Cluster, team: Team) -> float:
    """Records per second of two processes, in the middle, when both have found their part and none has ended."""
    lot.fill()
    with ExitStack() as running:
        intakes = [running.enter_context(process("intake")) for _ in range(2)]
        wait(lambda: _intakes() == 2)
        lot.declare(cluster, team)
        samples = list(watch(lot.count, intakes[0]))
    end(lot)
    return rate([sample for sample in samples if 0.2 <= sample.stored / lot.count <= 0.8])


def by_one(lot: Lot, cluster: Cluster, team: Team) -> list[Sample]:
    """One process for long."""
    lot.fill()
    with process("intake") as intake:
        wait(lambda: _intakes() == 1)
        lot.declare(cluster, team)
        samples = list(watch(lot.count, intake))
    end(lot)
    return samples


def end(lot: Lot) -> None:
    """What follows shall not share with processes that have ended: they count as living for fifteen seconds."""
    lot.drop()
    Beat.objects.all().delete()


def raw_copy() -> float:
    """Records per second of COPY into bare tables, of the rows of some of the records that were stored last."""
    ids = list(EventState.objects.order_by("-pk").values_list("pk", flat=True)[:COPIED])
    with Cursor(connection.connection) as cursor:
        parts = [_rows(cursor, table, ids) for table in TABLES]
        for table in TABLES:
            cursor.execute(f"CREATE TABLE bare_{table} AS SELECT * FROM {table} LIMIT 0")
        began = time.perf_counter()
        for table, (types, rows) in zip(TABLES, parts, strict=True):
            with cursor.copy(f"COPY bare_{table} FROM STDIN (FORMAT BINARY)") as copying:
                copying.set_types(types)
                for row in rows:
                    copying.write_row(row)
        seconds = time.perf_counter() - began
        for table in TABLES:
            cursor.execute(f"DROP TABLE bare_{table}")
    return len(ids) / seconds


def _rows(cursor: Cursor[Any], table: str, ids: list[int]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Types of a table's columns, and its rows of these events."""
    column = "id" if table in TABLES[:3] else "event_state_id"
    cursor.execute(f"SELECT * FROM {table} WHERE {column} = ANY(%s)", [ids], binary=True)
    described = cursor.description or []
    types = [connection.connection.adapters.types[one.type_code].name for one in described]
    return types, cursor.fetchall()


def decoding(lot: Lot) -> dict[str, float]:
    """Median microseconds from a record to its rows, for each producer."""
    return {producer: round(statistics.median(_each(lot, producer)), 1) for producer in PRODUCERS}


def _each(lot: Lot, producer: Any) -> Iterator[float]:
    flow = Flow(
        pk=1, cluster_id=1, name=f"{producer}-a", source_topic=f"{producer}-a", parking_topic="parking",
        consumer_group=f"connect-{producer}-a" if producer == "connect" else f"{producer}-a-service",
        target="gated" if producer == "native" else "plain",
    )  # fmt: skip
    flows, now = by_topic([flow])[1, "parking"], timezone.now()
    for offset, wire in enumerate(lot.wires(producer, DECODED)):
        arrived = Arrived(Record("parking", 0, offset, 1_700_000_000_000, wire.key, wire.value, wire.headers), 1)
        began = time.perf_counter()
        read(arrived, flows, now)
        yield (time.perf_counter() - began) * 1e6


# What is seen in the store


def watch(count: int, intake: Popen[bytes]) -> Iterator[Sample]:
    """Until so many records more are stored; one sample for each look at which there were more."""
    before = stored = _stored()
    since = time.monotonic()
    while stored < before + count:
        now = _stored()
        if now > stored:
            stored, since = now, time.monotonic()
            yield Sample(since, stored - before, resident_mb(intake))
        elif time.monotonic() - since > PATIENCE:
            raise SystemExit(f"Intake stored {stored - before} of {count} records, then nothing for {PATIENCE:.0f} s")
        time.sleep(0.05)


def _stored() -> int:
    return sum(IntakePosition.objects.values_list("next_offset", flat=True))


def _intakes() -> int:
    return Beat.objects.filter(process="intake", at__gt=timezone.now() - timedelta(seconds=5)).count()


def rate(samples: list[Sample]) -> float:
    """Records per second between the first commit and the last."""
    return (samples[-1].stored - samples[0].stored) / (samples[-1].at - samples[0].at)


def decay(samples: list[Sample], window: int) -> float:
    """1 − the rate of the last `window` records ÷ that of the first."""
    first = [sample for sample in samples if sample.stored <= window]
    last = [sample for sample in samples if sample.stored >= samples[-1].stored - window]
    return 1 - rate(last) / rate(first)


def growth(samples: list[Sample], warm: int) -> float:
    return samples[-1].resident - next(sample for sample in samples if sample.stored >= warm).resident


def wait(until: Callable[[], bool]) -> None:
    since = time.monotonic()
    while not until():
        if time.monotonic() - since > PATIENCE:
            raise SystemExit("The processes of the benchmark did not get going")
        time.sleep(0.05)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
