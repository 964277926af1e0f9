"""What every test may use: the servers, topics and a browser. How they are started: tests/servers.py."""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase

from console.environment import environment
from tests import emptying, servers
from tests.waiting import wait_until

# No example fails for being slow, or for the luck of the draw: the machine may be busy.
BY_LUCK = [
    hypothesis.HealthCheck.too_slow,
    hypothesis.HealthCheck.filter_too_much,
    hypothesis.HealthCheck.data_too_large,
]
hypothesis.settings.register_profile(
    "siding", deadline=None, derandomize="CI" in os.environ, suppress_health_check=BY_LUCK
)
hypothesis.settings.load_profile("siding")

FOR_EVER = {"retention.ms": "-1"}
"""Records of tests are of 1970, or of a day that has gone by: by default Kafka deletes them, at whichever minute."""

ASYNC_UNSAFE = "DJANGO_ALLOW_ASYNC_UNSAFE"

ASK_KAFKA = (
    "parking.progress",
    "parking.fetch",
    "parking.fetch_late",
    "parking.intake.pointers",
    "replay.targets.topic",
)
"""Modules that ask Kafka something while a person or a worker waits, and give up after a few SECONDS."""

CHROMIUM_FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What a test needs and is not here is skipped with the reason, or fails where SIDING_REQUIRE names it."""
    for need, missing in (("kafka", _no_kafka), ("browser", _no_browser)):
        if item.get_closest_marker(need) and (reason := missing()):
            if need in environment().require:
                pytest.fail(f"SIDING_REQUIRE names {need}, but {reason}", pytrace=False)
            pytest.skip(reason)


def _no_kafka() -> str:
    return "only librdkafka's mock cluster is here, not Apache Kafka" if servers.kafka_is_mock() else ""


def _no_browser() -> str:
    return "" if chromium() else "no Chromium is here (Debian: apt-get install chromium)"


def chromium() -> str:
    """The system's Chromium, else Playwright's own, else nothing."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    own = Path.home() / ".cache/ms-playwright"
    return found or next((str(path) for path in own.glob("chromium-*/chrome-linux*/chrome")), "")


@pytest.fixture(scope="session", autouse=True)
def _rows_are_deleted_after_tests_that_commit() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: emptying.empty())
        yield


@pytest.fixture(autouse=True)
def _kafka_has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine's Kafka is not one that is away."""
    for module in ASK_KAFKA:
        monkeypatch.setattr(f"{module}.SECONDS", 60.0)


@pytest.fixture
def kafka_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test in which it is, so that it is found out soon."""
    for module in ASK_KAFKA:
        monkeypatch.setattr(f"{module}.SECONDS", 3.0)


@pytest.fixture(scope="session")
def kafka() -> str:
    """Bootstrap address of a broker that answers."""
    address = settings.KAFKA_BOOTSTRAP_SERVERS
    AdminClient({"bootstrap.servers": address, "log_level": 0}).list_topics(timeout=120)
    return str(address)


@pytest.fixture
def make_topic(kafka: str) -> Iterator[Callable[..., str]]:
    """make_topic("parking", partitions=2, **{"cleanup.policy": "delete"}) → the unique name of a new topic.

    It keeps what it is given for ever, unless told otherwise.
    On the mock cluster it only makes up the name: topics appear there on first use.
    """
    admin = AdminClient({"bootstrap.servers": kafka})
    made: list[str] = []

    def make(stem: str = "topic", *, partitions: int = 1, **config: str) -> str:
        name = f"{stem}-{uuid.uuid4().hex[:12]}"
        if not servers.kafka_is_mock():
            new = NewTopic(name, num_partitions=partitions, replication_factor=1, config=FOR_EVER | config)
            admin.create_topics([new])[name].result(60)
            made.append(name)
            wait_until(lambda: len(admin.list_topics(name, timeout=60).topics[name].partitions) == partitions)
        return name

    yield make
    if made:
        admin.delete_topics(made)


@pytest.fixture
def variables(transactional_db: None) -> dict[str, str]:
    """The environment for a process of ours that a test starts: it sees this test's database, Redis and Kafka."""
    parts = connection.settings_dict
    url = f"postgresql://{parts['USER']}:{parts['PASSWORD']}@{parts['HOST']}:{parts['PORT']}/{parts['NAME']}"
    ours = {name: value for name, value in os.environ.items() if name != ASYNC_UNSAFE}
    return {
        **ours,
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "SIDING_DATABASE_URL": url,
        "SIDING_REDIS_URL": environment().redis_url,
        "SIDING_KAFKA_BOOTSTRAP_SERVERS": settings.KAFKA_BOOTSTRAP_SERVERS,
        "PYTHONUNBUFFERED": "1",
    }


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """pytest-playwright's own fixture: the system's Chromium, which as root needs to run without its sandbox."""
    # Playwright runs an event loop in this thread, and Django then wants to be told that its calls are meant to block.
    os.environ[ASYNC_UNSAFE] = "true"
    flags = [*CHROMIUM_FLAGS, "--no-sandbox"] if os.geteuid() == 0 else CHROMIUM_FLAGS
    return {**browser_type_launch_args, "executable_path": chromium(), "args": flags}
