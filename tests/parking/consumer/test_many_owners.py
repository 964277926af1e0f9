"""Real threads on one ledger: two source owners, an old owner that reads everything again, two replay owners."""

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from parking import wire
from parking.consumer.errors import Poison
from parking.record import Record
from parking.wire import Announcement, Command, Outcome, names
from tests.parking.consumer.service import FLOW, Log, Service, command, sent, source

KEYS = [b"a", b"b", b"c"]
EVENTS = 8
SECONDS = 180


class Operators:
    """Plans for each key whatever is parked of it, one plan at a time, until it is released."""

    def __init__(self, log: Log) -> None:
        self.log, self.read = log, 0
        self.replay_topic: list[Record] = []
        self.known: dict[bytes, dict[str, Announcement]] = {key: {} for key in KEYS}
        self.settled: set[str] = set()
        self.released = dict.fromkeys(KEYS, -1)
        self.running: dict[bytes, int] = {}
        self.token = itertools.count(1)

    def go_on(self) -> None:
        for hold_key, published in self.log.wires[self.read :]:
            self.read += 1
            self.hear(hold_key, wire.decode_parking(Record("p", 0, 0, 0, *published)))
        for key in KEYS:
            if key not in self.running and not self.done(key):
                self.plan(key)

    def hear(self, key: bytes, heard: Announcement | Outcome) -> None:
        if isinstance(heard, Announcement):
            self.known[key].setdefault(heard.event_id, heard)
            return
        assert heard.outcome != names.REFUSED, heard.reason
        if heard.outcome in names.FACTS:
            self.settled.add(str(heard.event_id))
        else:
            if heard.outcome == names.RELEASED:
                self.released[key] = max(self.released[key], heard.position or 0)
            if heard.token == self.running.get(key):
                del self.running[key]

    def done(self, key: bytes) -> bool:
        """Whether the console would call the key released."""
        parked = self.known[key].values()
        return all(e.event_id in self.settled and e.position < self.released[key] for e in parked)

    def plan(self, key: bytes) -> None:
        token = self.running[key] = next(self.token)
        waiting = sorted(self.known[key].values(), key=lambda e: e.position)
        asked = [command(names.APPLY, e, token, hold_key=key) for e in waiting if e.event_id not in self.settled]
        self.replay_topic += [*asked, sent(Command(names.RELEASE, FLOW.name, key, token, "replay"))]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_many_owners_at_once(make_service: Callable[..., Service], log: Log, seed: int) -> None:
    partitions = [
        [source(f"{p}{n}", n, partition=p, key=Random(f"{seed}{p}{n}").choice(KEYS)) for n in range(EVENTS)]
        for p in (0, 1)
    ]
    operators, chance, over = Operators(log), Random(seed), threading.Event()

    def fail_sometimes(event):
        time.sleep(chance.random() * 0.003)
        return Poison("now and then") if chance.random() < (0.4 if event.token == 0 else 0.2) else None

    def follow(service: Service, topic: list[Record]) -> None:
        place = 0
        while not over.is_set() or place < len(topic):
            if place < len(topic):
                service.take(topic[place])
                place += 1
            else:
                time.sleep(0.002)

    services = [make_service() for _ in range(5)]
    for service in services:
        service.fails = dict.fromkeys((r.value for records in partitions for r in records), fail_sometimes)
    with ThreadPoolExecutor(5) as pool:
        sources = [pool.submit(services[p].take, *partitions[p]) for p in (0, 1)]
        again = pool.submit(services[2].take, *partitions[0])
        replays = [pool.submit(follow, service, operators.replay_topic) for service in services[3:]]
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            operators.go_on()
            quiet = all(running.done() for running in (*sources, again)) and operators.read == len(log.wires)
            if quiet and all(operators.done(key) for key in KEYS):
                break
            time.sleep(0.005)
        over.set()
        for running in (*sources, again, *replays):
            running.result(SECONDS)
    check(services[0], partitions, operators)


def check(service: Service, partitions: list[list[Record]], operators: Operators) -> None:
    applied = service.applied
    assert sorted(applied) == sorted(f"{p}{n}" for p in (0, 1) for n in range(EVENTS)), "each of them, and once"
    for records in partitions:
        for key in KEYS:
            own = [record.value.decode() for record in records if record.key == key and record.value]
            assert [event for event in applied if event in own] == own, "in the order of its partition"
    with service.ledger.transaction(FLOW.name) as transaction:
        assert not any(transaction.lock(key).quarantined for key in KEYS)
        assert transaction.due(None) == []
    assert all(operators.done(key) for key in KEYS)
