"""The processes of DESIGN section 6 on real servers: Redis emptied and a worker killed in the middle of a replay."""

import signal
import subprocess
import sys
import threading

import pytest
import redis
from confluent_kafka import Producer

from parking.consumer import KeyedConsumer
from parking.models import Beat, Flow, Quarantine
from replay.models import Replay
from tests.replay.line import KEY, PARTITIONS, Line, again
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
EVENTS = 30


class Processes:
    """Starts our processes and ends them, in any case."""

    def __init__(self, variables: dict[str, str]) -> None:
        self._variables = {**variables, "SIDING_REPLAY_LEASE_SECONDS": "5", "SIDING_WATCH_INTERVAL_SECONDS": "0.5"}
        self._running: list[subprocess.Popen[bytes]] = []

    def manage(self, *command: str) -> subprocess.Popen[bytes]:
        return self._start([sys.executable, "manage.py", *command])

    def worker(self, name: str) -> subprocess.Popen[bytes]:
        celery = [sys.executable, "-m", "celery", "-A", "console", "worker", "--pool", "solo", "-l", "WARNING"]
        return self._start([*celery, "-n", f"{name}@test", "--without-gossip", "--without-mingle"])

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, env=self._variables)
        self._running.append(process)
        return process

    def end(self) -> None:
        for process in self._running:
            process.kill()
        for process in self._running:
            process.wait(60)


@pytest.fixture
def processes(variables):
    started = Processes(variables)
    yield started
    started.end()


@pytest.fixture
def service(line, make_topic):
    """The line's consumer as it runs in a service: on its own thread, with its own connections to Kafka."""
    room = {"max.message.bytes": "2000000", "cleanup.policy": "delete"}
    line.change(
        source_topic=make_topic("source", partitions=PARTITIONS),
        parking_topic=make_topic("parking", partitions=PARTITIONS, **room),
        replay_topic=make_topic("replay", partitions=PARTITIONS, **room),
        consumer_group=f"service-{line.flow.name}",
        pace_per_second=3,
        window=5,
    )
    consumer = KeyedConsumer(line.kit(), line.ledger, line.handler, kafka={"bootstrap.servers": line.kafka})
    thread = threading.Thread(target=consumer.run)
    thread.start()
    yield consumer
    consumer.stop()
    thread.join(120)


def produce(line: Line, flow: Flow, event_ids: list[str]) -> None:
    producer = Producer({"bootstrap.servers": line.kafka})
    for event_id in event_ids:
        value = b"bad" if event_id == "e0" else b"good " + event_id.encode()
        producer.produce(flow.source_topic, value, KEY, 0, headers=[("event-id", event_id.encode())])
    assert producer.flush(60) == 0


@pytest.fixture
def running(line, service, processes):
    """A replay of many events that runs slowly enough to be disturbed in its middle."""
    processes.manage("intake")
    processes.manage("watch")
    produce(line, line.flow, [f"e{number}" for number in range(EVENTS)])
    wait_until(lambda: line.flow.events.count() == EVENTS)
    line.decide("e0", "skip")
    return line.approved()


def done(replay: Replay) -> int:
    return replay.steps.filter(state__in=["applied", "skipped", "duplicate"]).count()


def finished(line: Line, replay: Replay) -> None:
    wait_until(lambda: not Replay.objects.get(pk=replay.pk).living)
    replay = Replay.objects.get(pk=replay.pk)
    assert replay.state == "completed", replay.stop_reason
    assert [event for event, _ in line.effects()] == [f"e{number}" for number in range(1, EVENTS)]
    wait_until(lambda: line.quarantine().state == Quarantine.State.RELEASED)


def test_redis_emptied_in_the_middle_loses_nothing(line, running, processes, variables):
    """Emptied together with the worker's death, so that no message is left anywhere: only the database knows."""
    first = processes.worker("one")
    wait_until(lambda: done(running) >= 5)
    first.send_signal(signal.SIGKILL)
    first.wait(60)
    with redis.Redis.from_url(variables["SIDING_REDIS_URL"]) as client:
        client.flushdb()
    at = done(running)
    assert at < EVENTS, "it was in the middle"
    processes.worker("two")
    finished(line, running)


def test_a_killed_workers_replay_is_taken_up_by_another(line, running, processes):
    first = processes.worker("one")
    wait_until(lambda: done(running) >= 5)
    first.send_signal(signal.SIGKILL)
    first.wait(60)
    assert Replay.objects.get().living
    second = processes.worker("two")
    finished(line, running)
    wait_until(lambda: Beat.objects.filter(process="worker", pid=second.pid).exists())
    assert again(running).lease_epoch > 1
