"""`python -m tests.chaos.inside SECONDS SEED`: load and people for so long, then until all is quiet; then the verdict.

Writes `load ended` when nothing is sent any more, and one JSON object as the last line.
"""

import json
import os
import sys
import threading
import time
from random import Random

import django
from confluent_kafka import KafkaException

PATIENCE = 120.0
"""Seconds without any progress, after the load has ended, that are too many."""
PACE = 200
"""Replay records a second: the demo's own pace is for people who look on."""
QUIET_LOOKS = 2
ROUND = 0.5


def main(seconds: float, seed: int) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
    django.setup()
    from django.conf import settings

    from console.demo.disputes import producer
    from console.demo.disputes.settings import settings as sample
    from console.demo.disputes.stories import FIRST_SEQUENCE, Sender
    from parking.models import Flow
    from tests.chaos import load, verdict
    from tests.chaos.people import People

    Flow.objects.filter(name="disputes").update(pace_per_second=PACE)
    random = Random(seed)
    sender, stop = Sender(seed=seed, first=FIRST_SEQUENCE + time.time_ns() // 1_000_000), threading.Event()
    kafka = producer.connect(settings.KAFKA_BOOTSTRAP_SERVERS)
    sending = threading.Thread(target=load.send, args=(kafka, sender, random, stop))
    robots = People("disputes", Random(seed + 1))
    sending.start()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        robots.round()
        time.sleep(ROUND)
    stop.set()
    sending.join()
    print("load ended", flush=True)
    at = verdict.Place("disputes", settings.KAFKA_BOOTSTRAP_SERVERS, sample().database_url)
    found = settle(robots, at) or verdict.violations(at)
    for line in found:
        print(f"VIOLATION: {line}", flush=True)
    print(json.dumps({**verdict.counts(at), "violations": len(found)}), flush=True)
    return 1 if found else 0


def settle(robots: "People", at: "verdict.Place") -> list[str]:  # type: ignore[name-defined]  # noqa: F821
    """Goes on with people until nothing goes on any more; what still did at the end of patience."""
    from django.db import DatabaseError, InterfaceError, connection
    from psycopg import OperationalError

    from tests.chaos import verdict

    until, quiet, left = time.monotonic() + PATIENCE, 0, ["nothing was looked at"]
    while quiet < QUIET_LOOKS and time.monotonic() < until:
        robots.round()
        time.sleep(ROUND)
        try:
            before, left = left, verdict.restless(at)
        except (DatabaseError, InterfaceError, OperationalError, KafkaException):
            connection.close()  # what was killed last is coming back
            continue
        quiet = 0 if left else quiet + 1
        until = until if left == before else time.monotonic() + PATIENCE
    return left


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2])))
