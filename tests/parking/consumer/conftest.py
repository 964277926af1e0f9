"""Ledgers on SQLite and on PostgreSQL, empty for each test."""

import itertools
import logging
import os
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from psycopg import sql
from psycopg.conninfo import make_conninfo

from parking.consumer.flow import Flow
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.postgres import PostgresLedger
from parking.consumer.ledger.sqlite import SqliteLedger
from tests.parking.consumer.kafka_loop import LARGE, PARTITIONS, Loop
from tests.parking.consumer.service import EFFECTS, FLOW, Log, Service


@pytest.fixture(autouse=True)
def _nothing_is_said_by_threads_of_earlier_tests(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """They were told to stop, and may wait for a broker that is away until they do."""
    earlier = set(threading.enumerate()) - {threading.current_thread()}

    def is_of_this_test(_: logging.LogRecord) -> bool:
        return threading.current_thread() not in earlier

    caplog.handler.addFilter(is_of_this_test)
    yield
    caplog.handler.removeFilter(is_of_this_test)


@pytest.fixture
def postgres() -> Iterator[str]:
    """Where an empty schema of PostgreSQL is."""
    at: dict[str, str] = settings.DATABASES["default"]  # type: ignore[assignment]
    server = make_conninfo(
        host=at["HOST"], port=at["PORT"], user=at["USER"], password=at["PASSWORD"], dbname="postgres"
    )
    name = f"kit_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        yield make_conninfo(server, options=f"-csearch_path={name}")
        connection.execute(
            sql.SQL("SET client_min_messages = warning; DROP SCHEMA {} CASCADE").format(sql.Identifier(name))
        )


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory, where there is such a place: SQLite waits for the disk at each commit."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    # A thread that was told to stop may still write there.
    with tempfile.TemporaryDirectory(dir=memory, ignore_cleanup_errors=True) as name:
        yield Path(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def make_ledger(request: pytest.FixtureRequest, folder: Path) -> Callable[[], Ledger]:
    """Each call gives another process's way to the same ledger; its tables are not there yet."""
    if request.param == "sqlite":
        return lambda: SqliteLedger(folder / "service.db")
    conninfo = request.getfixturevalue("postgres")
    return lambda: PostgresLedger(conninfo)


@pytest.fixture
def ledger(make_ledger: Callable[[], Ledger]) -> Iterator[Ledger]:
    ledger = make_ledger()
    ledger.prepare()
    with ledger.transaction("") as transaction:
        transaction.connection.execute(EFFECTS)
    yield ledger
    ledger.close()


@pytest.fixture
def sources() -> int:
    """How many partitions the source topic has."""
    return PARTITIONS


@pytest.fixture
def flow(make_topic: Callable[..., str], sources: int) -> Flow:
    """A flow with topics on the broker."""
    source = make_topic("kit-source", partitions=sources)
    return Flow(
        name="disputes",
        source_topic=source,
        parking_topic=make_topic("kit-parking", partitions=PARTITIONS, **LARGE),
        replay_topic=make_topic("kit-replay", partitions=PARTITIONS, **LARGE),
        consumer_group=f"group-of-{source}",
    )


@pytest.fixture
def loop(kafka: str, flow: Flow, tmp_path: Path) -> Iterator[Loop]:
    """Processes of the service, and the console's side of its topics."""
    loop = Loop(kafka, flow, tmp_path)
    yield loop
    loop.close()


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def make_service(make_ledger: Callable[[], Ledger], ledger: Ledger, log: Log) -> Iterator[Callable[..., Service]]:
    """Each call gives another process of the service, on the same ledger."""
    made: list[Service] = []
    clock = itertools.count(1_000_000)

    def make(flow=FLOW, **options) -> Service:
        mark = "?" if ledger.schema == "sqlite" else "%s"
        made.append(
            Service(make_ledger(), options.pop("log", log), flow, mark=mark, now=lambda: next(clock), **options)
        )
        return made[-1]

    yield make
    for service in made:
        service.ledger.close()


@pytest.fixture
def service(make_service: Callable[..., Service]) -> Service:
    return make_service()
