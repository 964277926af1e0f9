"""The whole loop as a process on a real broker."""

import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from parking.consumer.errors import Refused
from parking.consumer.flow import Flow
from parking.consumer.publisher import KafkaPublisher
from parking.coordinates import Coordinates
from parking.fingerprint import fingerprint
from parking.partitioner import partition
from parking.wire import Announcement, announcement, names
from tests.parking.consumer import raw_producer
from tests.parking.consumer.kafka_loop import LARGE, PARTITIONS, Loop, settled
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def test_the_whole_life_of_a_key(loop: Loop) -> None:
    loop.start()
    odd = [("a", b"1"), ("n", None), ("a", b""), ("siding-version", b"1")]
    loop.send("e1", "bad2", "e3", headers=odd)
    loop.send("x1", "x2", key=b"other")
    loop.send("n1", key=None)
    loop.hear_all("poison bad2", "held e3")
    wait_until(lambda: len(loop.values) == 4)
    assert sorted(loop.values) == ["e1", "n1", "x1", "x2"]
    poison = loop.announcements[0]
    assert (poison.key, poison.value, poison.consumer_group) == (b"k", b"bad2", loop.flow.consumer_group)
    assert poison.headers == (("event-id", b"bad2"), *odd)
    assert poison.fingerprint == fingerprint(poison.key, poison.value, poison.headers)
    assert poison.source.topic == loop.flow.source_topic
    (loop.folder / "healed").touch()
    for parked in loop.announcements:
        loop.command(names.APPLY, 100, parked)
    loop.send("e4")
    loop.command(names.RELEASE, 100)
    loop.hear(lambda: loop.said[-1:] in (["released"], ["still-held"]))
    if loop.said[-1] == "still-held":  # e4 came before the marker: it follows under the same token
        loop.command(names.APPLY, 100, loop.announcements[-1])
        loop.command(names.RELEASE, 100)
        loop.hear(lambda: loop.said[-1] == "released")
    loop.send("e5")
    wait_until(lambda: "e5" in loop.values)
    own = [value for value in loop.values if value not in ("x1", "x2", "n1")]
    assert own == ["e1", "bad2", "e3", "e4", "e5"]
    assert [token for _, value, token in loop.effects if value in ("e1", "bad2", "e3", "e5")] == [0, 100, 100, 0]


@pytest.mark.parametrize("dies", ["before", "after"])
def test_kill_9_between_commit_and_publish_and_between_publish_and_offset(loop: Loop, dies: str) -> None:
    loop.send("e1", "bad2", "e3")
    assert loop.start(dies=dies).wait(120) == -signal.SIGKILL
    assert loop.effects == [("e1", "e1", 0)]
    loop.start()
    loop.hear_all("poison bad2", "held e3")
    assert loop.handled.count("bad2") == 1, "the decision was committed, so no second look at the event"
    most = 3  # by the one that was killed; then by the sweep of what was left and by the redelivered record
    assert loop.said.count("poison bad2") <= most
    assert len({parked.position for parked in loop.announcements if parked.event_id == "bad2"}) == 1


def test_kill_9_at_random_moments_loses_and_repeats_nothing(loop: Loop) -> None:
    """A small chaos: the service is killed again and again while keys are poisoned, replayed and released."""
    chance = Random(20)
    keys = [b"a", b"b", b"c"]
    sent: dict[bytes, list[str]] = {key: [] for key in keys}
    for n in range(60):
        key = chance.choice(keys)
        value = f"{'bad' if chance.random() < 0.1 else 'e'}{n}"
        sent[key].append(value)
        loop.send(value, key=key)
    kafka = {"group.instance.id": "one"}  # so that what was killed has its partitions back at once
    process = loop.start(kafka=kafka)
    for _ in range(4):
        time.sleep(1 + chance.random())
        loop.kill(process)
        process = loop.start(kafka=kafka)
    (loop.folder / "healed").touch()
    token = 1000
    deadline = time.monotonic() + 300
    while sorted(loop.values) != sorted(value for values in sent.values() for value in values):
        assert time.monotonic() < deadline, f"{loop.said}\n{loop.output}"
        token += 1
        _replay_everything(loop, token)
        if chance.random() < 0.4:
            loop.kill(process)
            process = loop.start(kafka=kafka)
    for key in keys:
        assert [value for value in loop.values if value in sent[key]] == sent[key]
    assert len(loop.values) == len(set(loop.values))


def _replay_everything(loop: Loop, token: int) -> None:
    """One plan for each key over what is known of it."""
    _listen(loop, 1.5)
    known = {parked.event_id: parked for parked in loop.announcements}
    done = settled(loop.outcomes)
    for key in (b"a", b"b", b"c"):
        waiting = sorted(
            (e for e in known.values() if e.key == key and e.event_id not in done), key=lambda e: e.position
        )
        for parked in waiting:
            loop.command(names.APPLY, token, parked, hold_key=key)
        loop.command(names.RELEASE, token, hold_key=key)


def _listen(loop: Loop, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    loop.hear(lambda: time.monotonic() > deadline)


def test_a_handler_longer_than_the_poll_interval_keeps_its_partition(loop: Loop) -> None:
    loop.start(slow=9, kafka={"max.poll.interval.ms": 6000})
    loop.send("slow1", "e2")
    wait_until(lambda: "e2" in loop.values)
    assert loop.handled == ["slow1", "e2"]
    wait_until(lambda: 2 in loop.committed(loop.flow.source_topic))


def test_a_rebalance_while_a_handler_runs(loop: Loop) -> None:
    """A second process joins and takes a partition over; an event that is handled twice takes effect once."""
    loop.start(slow=4)
    keys = [b"a", b"b", b"c", b"d"]
    loop.send("slow1", key=b"a")
    wait_until(lambda: "slow1" in loop.handled)
    second = loop.start(slow=4)
    for n in range(40):
        loop.send(f"e{n}", key=keys[n % 4])
    wait_until(lambda: len(loop.values) == 41)
    loop.kill(second)
    loop.send("last")
    wait_until(lambda: "last" in loop.values)
    assert len(loop.values) == len(set(loop.values)) == 42
    for k in range(4):
        own = [value for value in loop.values if value in {f"e{n}" for n in range(40) if n % 4 == k}]
        assert own == sorted(own, key=lambda value: int(value[1:]))


def test_sigterm_ends_a_backoff_and_leaves_the_event_unfinished(loop: Loop) -> None:
    process = loop.start(wait=600)
    loop.send("e1", "again2")
    wait_until(lambda: "again2" in loop.handled)
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 0
    assert "stopped" in loop.output
    assert 1 in loop.committed(loop.flow.source_topic), "e1 is behind us, again2 is not"
    loop.start()
    loop.hear_all("poison again2")
    assert [a.number for a in loop.announcements[0].attempts] == [1, 2, 3]


def test_sigterm_lets_a_handler_finish(loop: Loop) -> None:
    process = loop.start(slow=3)
    loop.send("slow1")
    wait_until(lambda: "slow1" in loop.handled)
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 0
    assert loop.values == ["slow1"]
    assert 1 in loop.committed(loop.flow.source_topic)


def test_topics_that_are_missing_or_compacted_are_named_and_waited_for(
    kafka: str, flow: Flow, tmp_path: Path, make_topic: Callable[..., str]
) -> None:
    compacted = make_topic("kit-parking", partitions=PARTITIONS, **{"cleanup.policy": "compact"})
    loop = Loop(kafka, replace(flow, parking_topic=compacted), tmp_path)
    try:
        loop.send("bad1")
        loop.start()
        wait_until(lambda: "set cleanup.policy=delete" in loop.output)
        assert f"parking topic {compacted}: max.message.bytes is 1048588" in loop.output
        assert len([line for line in loop.output.splitlines() if compacted in line]) == 1, "said once"
        _alter(kafka, compacted, {"cleanup.policy": "delete", **LARGE})
        loop.hear_all("poison bad1")
        wait_until(lambda: "works again" in loop.output)
    finally:
        loop.close()


def test_a_broker_that_is_not_there_yet(kafka: str, flow: Flow, tmp_path: Path) -> None:
    closed = socket.socket()  # nobody listens there, and nobody else gets the port meanwhile
    closed.bind(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    loop = Loop(kafka, flow, tmp_path)
    try:
        loop.send("e1")
        loop.start(kafka={"bootstrap.servers": f"127.0.0.1:{port}"})
        wait_until(lambda: "Kafka cannot be reached: check the addresses" in loop.output)
        assert len(loop.output.splitlines()) == 1, "one clear line"
        with _forward(closed, kafka):
            wait_until(lambda: loop.values == ["e1"])
    finally:
        loop.close()


def test_a_record_that_is_too_large_is_parked_as_a_pointer(
    loop: Loop, kafka: str, make_topic: Callable[..., str]
) -> None:
    small = make_topic("kit-parking", partitions=PARTITIONS, **{"max.message.bytes": "20000"})
    publisher = KafkaPublisher(loop.kafka, small)
    parked = Announcement(
        "held",
        "disputes",
        "e1",
        5,
        bytes(32),
        loop_source(loop),
        b"k",
        b"x" * 50_000,
        (("h", b"1"),),
        "g",
        blocked_by="e0",
    )
    publisher.publish(b"k", announcement.encode(parked))
    other = Loop(kafka, replace(loop.flow, parking_topic=small), loop.folder)
    other.hear_all("held e1")
    other.close()
    assert other.announcements == [replace(parked, value=None, headers=(), pointer=True)]


def test_a_record_that_is_too_large_even_as_a_pointer_speaks_against_itself_alone(
    loop: Loop, make_topic: Callable[..., str]
) -> None:
    small = make_topic("kit-parking", **{"max.message.bytes": "2000"})
    publisher = KafkaPublisher(loop.kafka, small)
    parked = Announcement("held", "disputes", "e1", 5, bytes(32), loop_source(loop), b"k" * 5_000, b"x", (), "g")
    with pytest.raises(Refused, match="does not take this record"):
        publisher.publish(b"k", announcement.encode(parked))
    publisher.publish(b"k", announcement.encode(replace(parked, key=b"k")))


def test_a_record_whose_headers_cannot_be_read_is_parked_and_the_line_goes_on(loop: Loop, kafka: str) -> None:
    raw_producer.produce(kafka, loop.flow.source_topic, b"odd", b"\xff\xfe")
    raw_producer.produce(kafka, loop.flow.replay_topic, b"odd", b"\xff\xfe")
    loop.send("e1")
    loop.start()
    loop.hear(lambda: len(loop.heard) == 2)
    wait_until(lambda: loop.values == ["e1"])
    (parked,), (refusal,) = loop.announcements, loop.outcomes
    assert (parked.value, parked.attempts[0].error_type) == (b"odd", "unreadable")
    assert (refusal.outcome, refusal.hold_key) == ("refused", b"")
    assert "a name is not UTF-8" in (refusal.reason or "")


def test_all_records_of_a_hold_key_go_where_java_would_put_them(loop: Loop) -> None:
    publisher = KafkaPublisher(loop.kafka, loop.flow.parking_topic)
    for n in range(8):
        key = f"key-{n}".encode()
        parked = Announcement("held", "disputes", f"e{n}", 5, bytes(32), loop_source(loop), key, b"v")
        publisher.publish(key, announcement.encode(parked))
    places: dict[str, int] = {}
    deadline = time.monotonic() + 120
    while len(places) < 8 and time.monotonic() < deadline:
        message = loop.reader.poll(0.2)
        if message is not None and message.error() is None:
            places[(message.key() or b"").decode()] = message.partition() or 0
    assert places == {f"key-{n}": partition(f"key-{n}".encode(), PARTITIONS) for n in range(8)}


def loop_source(loop: Loop) -> Coordinates:
    return Coordinates(loop.flow.source_topic, 0, 0, 5)


def _alter(kafka: str, topic: str, settings: dict[str, str]) -> None:
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in settings.items()
    ]
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
    admin = AdminClient({"bootstrap.servers": kafka})
    (answer,) = admin.incremental_alter_configs([resource]).values()
    answer.result(60)


class _forward:  # noqa: N801 -- used as a verb
    """Take connections at `server` and pass them on: the broker becomes reachable there."""

    def __init__(self, server: socket.socket, target: str) -> None:
        self.server, (host, _, number) = server, target.rpartition(":")
        self.target = (host, int(number))

    def __enter__(self) -> None:
        self.server.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            there = socket.create_connection(self.target)
            for one, other in ((client, there), (there, client)):
                threading.Thread(target=_pump, args=(one, other), daemon=True).start()


def _pump(one: socket.socket, other: socket.socket) -> None:
    with closing(one), closing(other), suppress(OSError):  # either side may break off
        while data := one.recv(65536):
            other.sendall(data)
