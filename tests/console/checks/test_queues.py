"""What `manage.py check` says of Redis. Each fault is a real one."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from console.checks import queues
from console.embedded.ports import free_port
from console.embedded.redis import Redis


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Redis that nobody else uses."""
    server = Redis()
    yield server.start(Path(tmp_path_factory.mktemp("redis")))
    server.stop()


def test_a_redis_that_keeps_what_it_is_given_has_no_faults(own: str) -> None:
    assert queues.faults(own) == []
    assert queues.second(own) == []


def test_a_redis_that_throws_messages_away(own: str) -> None:
    with redis.Redis.from_url(own) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            (fault,) = queues.faults(own)
        finally:
            client.config_set("maxmemory-policy", "noeviction")
    assert "maxmemory-policy allkeys-lru" in fault.msg
    assert "noeviction" in str(fault.hint)


def test_a_wrong_password_is_named_and_not_shown(own: str) -> None:
    (fault,) = queues.faults(f"redis://:hunter2@127.0.0.1:{urlsplit(own).port}/0")
    assert fault.id == "siding.E302"
    assert "hunter2" not in str(fault)


def test_the_database_of_the_alerts_is_missing(own: str) -> None:
    (fault,) = queues.second(own.removesuffix("/0") + "/64")
    assert fault.id == "siding.E304"
    assert "database 64" in fault.msg


def test_a_closed_port() -> None:
    port = free_port()
    (fault,) = queues.faults(f"redis://127.0.0.1:{port}/3")
    assert f"Redis at 127.0.0.1:{port}, database 3, cannot be used" in fault.msg
    assert "Start Redis" in str(fault.hint)


def test_a_server_that_says_nothing_does_not_keep_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        began = time.monotonic()
        (fault,) = queues.faults(f"redis://127.0.0.1:{mute.getsockname()[1]}/0")
        assert time.monotonic() - began < 20
    assert fault.id == "siding.E301"
