"""The consumer on a real broker: side by side across keys, in order within each, and never a wrong commit."""

import asyncio
import signal
import sqlite3
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from parking.consumer import (
    SERIAL,
    Dependency,
    Event,
    Flow,
    KeyedConsumer,
    Limits,
    Purge,
    RateLimited,
    Retries,
    SqliteLedger,
)
from parking.consumer.tries import AnyHandler
from tests.parking.consumer.kafka_loop import FAST, Loop
from tests.parking.consumer.service import EFFECTS
from tests.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
SOURCES = 6
"""Partitions of the source topic: a second member of the group gets some of them whatever the assignor does."""
EAGER = {"partition.assignment.strategy": "range"}
COOPERATIVE = {"partition.assignment.strategy": "cooperative-sticky"}


@pytest.fixture
def sources() -> int:
    return SOURCES


class Work:
    """A handler that tells what runs beside what, and writes one effect for each event."""

    def __init__(self, seconds: Callable[[Event], float] = lambda event: 0.01) -> None:
        self.seconds = seconds
        self.lock = threading.Lock()
        self.running: Counter[bytes] = Counter()
        self.most = 0
        self.twice: list[bytes] = []
        self.begun: dict[bytes, list[str]] = defaultdict(list)

    def __call__(self, event: Event) -> Any:
        with self.lock:
            self.running[event.hold_key] += 1
            self.most = max(self.most, self.running.total())
            self.twice += [event.hold_key] if self.running[event.hold_key] > 1 else []
            self.begun[event.hold_key].append(event.event_id)
        try:
            self.act(event)
        finally:
            with self.lock:
                self.running[event.hold_key] -= 1
        statement = "INSERT INTO effect (event_id, value, token) VALUES (?, ?, ?)"
        return lambda connection: connection.execute(statement, [event.event_id, event.hold_key, event.token])

    def act(self, event: Event) -> None:
        time.sleep(self.seconds(event))


@pytest.fixture
def run(loop: Loop, flow: Flow, tmp_path: Path) -> Iterator[Callable[..., KeyedConsumer]]:
    """run(handler) → a consumer of the flow on a thread; all share one ledger, as processes would."""
    with sqlite3.connect(tmp_path / "service.db") as connection:
        connection.execute(EFFECTS)
    connection.close()
    started: list[tuple[KeyedConsumer, threading.Thread]] = []

    def start(handler: AnyHandler, kafka: dict[str, Any] | None = None, **options: Any) -> KeyedConsumer:
        ledger = SqliteLedger(tmp_path / "service.db")
        ledger.prepare()
        settings = {name: value for name, value in {**loop.kafka, **FAST, **(kafka or {})}.items() if value is not None}
        consumer = KeyedConsumer(flow, ledger, handler, kafka=settings, **options)
        thread = threading.Thread(target=consumer.run)
        thread.start()
        started.append((consumer, thread))
        return consumer

    yield start
    for consumer, _ in started:
        consumer.stop()
    for _, thread in started:
        thread.join(120)
        assert not thread.is_alive()


def send(loop: Loop, count: int, keys: int = 20, first: int = 0) -> dict[bytes, list[str]]:
    """So many events of so many keys, at random; the ids of each key in order."""
    chance = Random(first)
    sent: dict[bytes, list[str]] = defaultdict(list)
    for n in range(first, first + count):
        key = b"key-%d" % chance.randrange(keys)
        sent[key].append(f"e{n}")
        loop.producer.produce(
            loop.flow.source_topic, b"{}", key, partition=hash_of(key), headers=[("event-id", f"e{n}")]
        )
    assert loop.producer.flush(60) == 0
    return sent


def in_order(loop: Loop) -> dict[bytes, list[str]]:
    """The events that took effect, of each key."""
    found: dict[bytes, list[str]] = defaultdict(list)
    written: Any = loop.effects
    for event_id, key, _ in written:
        found[key].append(event_id)
    return found


def hash_of(key: bytes) -> int:
    return sum(key) % SOURCES


def ends(loop: Loop) -> list[int]:
    """Where the partitions of the source topic end."""
    reader = Consumer({**loop.kafka, "group.id": "none"})
    marks = [reader.get_watermark_offsets(TopicPartition(loop.flow.source_topic, n)) for n in range(SOURCES)]
    reader.close()
    return [high for _, high in marks]


def committed(loop: Loop) -> list[int]:
    """The group's offset in each partition of the source topic; 0 where there is none."""
    reader = Consumer({**loop.kafka, "group.id": loop.flow.consumer_group})
    places = reader.committed([TopicPartition(loop.flow.source_topic, n) for n in range(SOURCES)], timeout=60)
    reader.close()
    return [max(place.offset, 0) for place in places]


def all_committed(loop: Loop) -> bool:
    return committed(loop) == ends(loop)


def test_many_keys_side_by_side_and_each_in_order(loop: Loop, run: Callable[..., KeyedConsumer]) -> None:
    chance = Random(7)

    def act(event: Event) -> None:
        wait_until(lambda: work.most > 6)  # the first ones, until there are as many
        time.sleep(chance.random() * 0.02)

    work = Work()
    work.act = act  # type: ignore[method-assign]
    sent = send(loop, 1_500)
    run(work, limits=Limits(per_partition=6, overall=8))
    wait_until(lambda: len(loop.effects) == 1_500)
    assert work.twice == []
    assert work.begun == sent
    assert work.most <= 8
    wait_until(lambda: all_committed(loop))
    assert in_order(loop) == sent


def test_one_at_a_time_is_one_at_a_time(loop: Loop, run: Callable[..., KeyedConsumer]) -> None:
    work = Work()
    send(loop, 60)
    run(work, limits=SERIAL)
    wait_until(lambda: len(loop.effects) == 60)
    assert work.most == 1


def test_where_the_promise_is_independent_one_key_goes_side_by_side(
    loop: Loop, flow: Flow, run: Callable[..., KeyedConsumer]
) -> None:
    object.__setattr__(flow, "promise", "independent")
    work = Work(lambda event: 0.1)
    for n in range(40):
        loop.producer.produce(loop.flow.source_topic, b"{}", b"k", 0, headers=[("event-id", f"e{n}")])
    assert loop.producer.flush(60) == 0
    run(work, limits=Limits(per_partition=8, overall=8))
    wait_until(lambda: len(loop.effects) == 40)
    assert (work.most, work.twice) == (8, [])
    assert set(work.begun) == {b"e%d" % n for n in range(40)}, "the hold key is the event id"


def test_coroutines_run_side_by_side_on_one_thread(loop: Loop, run: Callable[..., KeyedConsumer]) -> None:
    work = Work()
    threads = set()

    async def handler(event: Event) -> Any:
        threads.add(threading.get_ident())
        with work.lock:
            work.running[event.hold_key] += 1
            work.most = max(work.most, work.running.total())
            work.twice += [event.hold_key] if work.running[event.hold_key] > 1 else []
            work.begun[event.hold_key].append(event.event_id)
        await asyncio.sleep(0.05)
        work.running[event.hold_key] -= 1
        if event.event_id == "e3" and event.attempt == 1:
            raise ValueError("once more")
        statement = "INSERT INTO effect (event_id, value, token) VALUES (?, ?, ?)"
        return lambda connection: connection.execute(statement, [event.event_id, "v", event.token])

    sent = send(loop, 400, keys=100)
    run(handler, limits=Limits(per_partition=50, overall=60), retries=Retries(first_wait=0.2))
    wait_until(lambda: len(loop.effects) == 400)
    assert (len(threads), work.twice) == (1, [])
    assert work.most > 16, "more than there are threads"
    again = {
        key: [event_id for n, event_id in enumerate(ids) if event_id not in ids[:n]] for key, ids in work.begun.items()
    }
    assert again == sent
    wait_until(lambda: all_committed(loop))


def test_only_the_finished_beginning_is_committed_and_the_buffer_is_bounded(
    loop: Loop, run: Callable[..., KeyedConsumer]
) -> None:
    release = threading.Event()

    def handler(event: Event) -> None:
        seen.append(event.event_id)
        if event.event_id == "stuck":
            release.wait(600)

    seen: list[str] = []
    loop.producer.produce(loop.flow.source_topic, b"{}", b"k", partition=0, headers=[("event-id", "stuck")])
    for n in range(500):
        key = b"k" if n % 2 else b"other-%d" % n
        loop.producer.produce(loop.flow.source_topic, b"{}", key, partition=0, headers=[("event-id", f"e{n}")])
    loop.producer.produce(loop.flow.source_topic, b"{}", b"x", partition=1, headers=[("event-id", "elsewhere")])
    assert loop.producer.flush(60) == 0
    run(handler, limits=Limits(per_partition=4, overall=8, buffer=40))
    wait_until(lambda: "elsewhere" in seen)
    time.sleep(2)
    assert len(seen) < 500, "reading stopped: what is read and unfinished is all of one key"
    assert committed(loop)[0] == 0, "nothing past the one that runs"
    release.set()
    wait_until(lambda: len(seen) == 502)
    wait_until(lambda: all_committed(loop))


def test_transaction_markers_are_committed_past(loop: Loop, run: Callable[..., KeyedConsumer]) -> None:
    producer = Producer({**loop.kafka, "transactional.id": loop.flow.name + loop.flow.source_topic})
    producer.init_transactions(60)
    for aborts in (False, True):
        producer.begin_transaction()
        for n in range(3):
            producer.produce(loop.flow.source_topic, b"{}", b"k", 0, headers=[("event-id", f"{aborts}{n}")])
        assert producer.flush(60) == 0
        producer.abort_transaction(60) if aborts else producer.commit_transaction(60)
    work = Work()
    run(work)
    wait_until(lambda: len(loop.effects) == 3)
    assert ends(loop)[0] == 8, "three records, a marker, three that were aborted, another marker"
    wait_until(lambda: all_committed(loop))
    assert len(loop.effects) == 3


def test_old_fates_are_forgotten_by_itself_unless_told_otherwise(
    loop: Loop, run: Callable[..., KeyedConsumer], tmp_path: Path
) -> None:
    def fates(statement: str = "SELECT 1") -> int:
        with sqlite3.connect(tmp_path / "service.db", timeout=60) as connection:
            connection.execute(statement)
            count = connection.execute("SELECT count(*) FROM siding_fate").fetchone()[0]
        connection.close()
        return int(count)

    consumer = run(Work(), purge=None)
    loop.send("e1", "e2")
    wait_until(lambda: len(loop.effects) == 2)
    assert fates("UPDATE siding_fate SET at = 1") == 2
    wait_until(lambda: all_committed(loop))
    assert fates() == 2
    consumer.stop()
    admin = AdminClient(loop.kafka)
    places = [TopicPartition(loop.flow.source_topic, n, end) for n, end in enumerate(ends(loop))]
    for gone in admin.delete_records(places).values():  # what the topic's retention does
        gone.result(60)
    run(Work(), purge=Purge(every=0.2))
    wait_until(lambda: fates() == 0)


def test_what_is_finished_is_committed_though_nothing_else_comes(loop: Loop, run: Callable[..., KeyedConsumer]) -> None:
    run(Work())
    for n in range(3):
        loop.send(f"e{n}")
        wait_until(lambda n=n: len(loop.effects) == n + 1)  # type: ignore[misc]
        wait_until(lambda: all_committed(loop))


def test_a_rate_limit_holds_up_only_what_needs_the_model(loop: Loop, run: Callable[..., KeyedConsumer]) -> None:
    asked: list[str] = []
    other: list[str] = []

    def handler(event: Event) -> None:
        if not event.hold_key.startswith(b"model"):
            return other.append(event.event_id)
        asked.append(event.event_id)
        if len(asked) == 1:
            raise RateLimited(15.0)
        return None

    model = Dependency("model", needed_by=lambda event: event.hold_key.startswith(b"model"))
    for n in range(5):
        loop.producer.produce(
            loop.flow.source_topic, b"{}", b"model-%d" % n, partition=0, headers=[("event-id", f"m{n}")]
        )
    assert loop.producer.flush(60) == 0
    run(handler, dependencies=[model], limits=Limits(per_partition=2, overall=2))
    wait_until(lambda: asked)
    for n in range(20):
        loop.send(f"o{n}", key=b"other-%d" % n)
    wait_until(lambda: len(other) == 20)
    assert len(asked) <= 2, "the others wait without asking: one was under way, and the limit is not over yet"
    wait_until(lambda: len(set(asked)) == 5)


@pytest.mark.parametrize(
    "protocol", [EAGER, COOPERATIVE, {"group.protocol": "consumer"}], ids=["eager", "cooperative", "new"]
)
def test_members_come_and_go_under_load(
    loop: Loop, run: Callable[..., KeyedConsumer], protocol: dict[str, str]
) -> None:
    """What was taken away is drained or abandoned: everything happens once, in order, and nothing is skipped."""
    kafka = dict(protocol)
    if "group.protocol" in kafka:
        kafka |= {"session.timeout.ms": None, "heartbeat.interval.ms": None}  # type: ignore[dict-item]
    chance = Random(3)
    works = [Work(lambda event: chance.random() * 0.03) for _ in range(3)]
    sent = send(loop, 600)
    limits = Limits(per_partition=4, overall=8, drain=2.0)
    run(works[0], kafka=kafka, limits=limits)
    wait_until(lambda: len(loop.effects) > 100)
    second = run(works[1], kafka=kafka, limits=limits)
    for work in works[1:]:
        if work is works[2]:
            run(work, kafka=kafka, limits=limits)
        deadline = time.monotonic() + 120
        while not work.begun and time.monotonic() < deadline:  # there is always something to do while members come
            for key, ids in send(loop, 40, first=sum(map(len, sent.values()))).items():
                sent[key] += ids
            time.sleep(0.1)
        assert work.begun
    second.stop()
    wait_until(lambda: len(loop.effects) == sum(map(len, sent.values())), seconds=240)
    assert in_order(loop) == sent
    assert [work.twice for work in works] == [[], [], []]
    wait_until(lambda: all_committed(loop))


def test_what_does_not_end_in_time_is_abandoned_without_a_commit(loop: Loop, run: Callable[..., KeyedConsumer]) -> None:
    """The first owner's handler outlives the rebalance by far. Its late result commits nothing and happens once."""
    release, waiting = threading.Event(), threading.Event()

    def slow(event: Event) -> Any:
        if event.event_id.startswith("stuck"):
            waiting.set()
            release.wait(600)
        return work(event)

    work, other = Work(), Work()
    for place in range(SOURCES):
        for topic_event in (f"stuck{place}", f"after{place}"):
            loop.producer.produce(
                loop.flow.source_topic, b"{}", b"k%d" % place, partition=place, headers=[("event-id", topic_event)]
            )
    assert loop.producer.flush(60) == 0
    run(slow, limits=Limits(drain=1.0, stop=1.0))
    assert waiting.wait(120)
    run(other)
    wait_until(lambda: other.begun)
    wait_until(lambda: len(loop.effects) >= 2)
    moved = committed(loop)
    taken = {event_id[-1] for ids in list(other.begun.values()) for event_id in ids}
    for place in range(SOURCES):
        if str(place) not in taken:
            assert moved[place] == 0
    release.set()
    wait_until(lambda: len(loop.effects) == 2 * SOURCES)
    wait_until(lambda: all_committed(loop))
    time.sleep(1)
    ids = [event_id for event_id, _, _ in loop.effects]
    assert len(ids) == len(set(ids)) == 2 * SOURCES
    for place in range(SOURCES):
        assert ids.index(f"stuck{place}") < ids.index(f"after{place}")


def test_a_stop_does_not_wait_for_ever(loop: Loop) -> None:
    process = loop.start(slow=600, limits='{"stop": 2}')
    loop.send("slow1")
    wait_until(lambda: "slow1" in loop.handled)
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 0
    assert "1 handlers did not end within 2 s; their events are left unfinished" in loop.output
    assert committed(loop)[0] == 0


def test_kill_9_with_many_in_flight(loop: Loop) -> None:
    sent = send(loop, 400, keys=30)
    total = 400
    for _ in range(3):
        done = len(loop.effects)
        if total - done < 200:  # it was faster than we are: there is more to be killed at
            for key, ids in send(loop, 300, keys=30, first=total).items():
                sent[key] += ids
            total += 300
        process = loop.start(kafka={"group.instance.id": "one"}, slow=0.01)
        wait_until(lambda done=done: len(loop.effects) > done + 60)  # type: ignore[misc]
        loop.kill(process)
    loop.start(kafka={"group.instance.id": "one"})
    wait_until(lambda: len(loop.effects) == total)
    ids = [event_id for event_id, _, _ in loop.effects]
    assert len(set(ids)) == total
    for own in sent.values():
        assert [event_id for event_id in ids if event_id in own] == own


def test_a_handler_that_ends_the_process_ends_it(loop: Loop, flow: Flow, tmp_path: Path) -> None:
    """SystemExit and its like are no failed tries: the consumer leaves the group and raises them where it runs."""

    def handler(event: Event) -> None:
        raise SystemExit(7)

    ledger = SqliteLedger(tmp_path / "service.db")
    ledger.prepare()
    loop.send("e1")
    consumer = KeyedConsumer(flow, ledger, handler, kafka={**loop.kafka, **FAST})
    with pytest.raises(SystemExit):
        consumer.run()
    assert sum(committed(loop)) == 0


def test_a_callback_of_the_kafka_client_that_raises_ends_nothing(
    loop: Loop, run: Callable[..., KeyedConsumer], caplog: pytest.LogCaptureFixture
) -> None:
    def stats(text: str) -> None:
        raise ValueError("no exporter")

    run(Work(), kafka={"stats_cb": stats, "statistics.interval.ms": 50})
    wait_until(lambda: "the callback stats_cb raised ValueError" in caplog.text)
    send(loop, 20)
    loop.send("x1", key=b"other")
    wait_until(lambda: len(loop.effects) == 21)


def test_an_end_by_the_handler_itself_is_an_unclean_one(loop: Loop, flow: Flow, tmp_path: Path) -> None:
    """What ends the program each time is parked in the end, like what the system kills."""

    def handler(event: Event) -> None:
        if event.event_id == "e1":
            raise SystemExit(7)

    ledger = SqliteLedger(tmp_path / "service.db")
    ledger.prepare()
    loop.send("e1")
    for _ in range(4):
        with pytest.raises(SystemExit):
            KeyedConsumer(flow, ledger, handler, kafka={**loop.kafka, **FAST}).run()
    last = KeyedConsumer(flow, ledger, handler, kafka={**loop.kafka, **FAST})
    thread = threading.Thread(target=last.run)
    thread.start()
    try:
        loop.hear_all("poison e1")
    finally:
        last.stop()
        thread.join(120)
    assert [a.error_type for a in loop.announcements[0].attempts] == ["process-ended"] * 3
