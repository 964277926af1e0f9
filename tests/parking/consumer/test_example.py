"""The example of docs/consumer-kit.md runs as it is printed."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from parking.consumer.flow import Flow
from parking.wire import names
from tests.parking.consumer.kafka_loop import LARGE, PARTITIONS, Loop
from tests.waiting import wait_until

PAGE = Path(__file__).parents[3] / "docs/consumer-kit.md"


@pytest.mark.kafka
def test_the_example_of_the_page(kafka: str, make_topic: Callable[..., str], tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    example = tmp_path / "service.py"
    example.write_text(found[1])
    flow = Flow(
        name="disputes",
        source_topic=make_topic("kit-source", partitions=PARTITIONS),
        parking_topic=make_topic("kit-parking", partitions=PARTITIONS, **LARGE),
        replay_topic=make_topic("kit-replay", partitions=PARTITIONS, **LARGE),
        consumer_group="dispute-service",
    )
    database = tmp_path / "service.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE decision (event_id text, account text, decision text)")
    loop = Loop(kafka, replace(flow, consumer_group="dispute-service"), tmp_path)
    variables = {"SOURCE": flow.source_topic, "PARKING": flow.parking_topic, "REPLAY": flow.replay_topic}
    variables |= {"DATABASE": str(database), "KAFKA": kafka, "PYTHONPATH": str(PAGE.parents[1])}
    with (tmp_path / "output").open("w") as output:
        service = subprocess.Popen(
            [sys.executable, str(example)], env={**os.environ, **variables}, stdout=output, stderr=output, text=True
        )
    loop.running.append(service)
    try:
        for cents in (100, -3, 9_000):
            loop.send(json.dumps({"account": "a-1", "amount_cents": cents}))
        loop.hear(lambda: len(loop.announcements) == 2)
        poison, held = loop.announcements
        assert poison.attempts[0].validation_errors[0].path == "/amount_cents"
        loop.command(names.SKIP, 10, poison)
        loop.command(names.APPLY, 10, held)
        loop.command(names.RELEASE, 10)
        loop.hear(lambda: loop.said[-1] == "released")
        rows = sqlite3.connect(database).execute("SELECT account, decision FROM decision").fetchall()
        assert rows == [("a-1", "refund"), ("a-1", "review")]
        service.terminate()
        wait_until(lambda: service.poll() == 0)
    finally:
        loop.close()
