"""What `manage.py check` says of PostgreSQL. Each fault is a real one."""

import socket
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from console.checks import database
from console.embedded.ports import free_port

pytestmark = pytest.mark.django_db


def to(**changes: Any) -> BaseDatabaseWrapper:
    """A connection of its own, like the test's but for `changes` of its settings."""
    other = connections["default"].copy()
    options = {**other.settings_dict["OPTIONS"], **changes.pop("OPTIONS", {})}
    other.settings_dict = {**other.settings_dict, **changes, "OPTIONS": options}
    return other


def told(other: BaseDatabaseWrapper) -> dict[str | None, str]:
    """Id of each fault → the whole of it."""
    return {fault.id: str(fault) for fault in database.faults(other)}


@pytest.fixture
def make_database(transactional_db: None) -> Iterator[Callable[..., str]]:
    """make_database("ENCODING 'UTF8' …") → the name of a new, empty database."""
    made: list[str] = []

    def make(kind: str) -> str:
        name = f"check_{uuid.uuid4().hex[:12]}"
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name} TEMPLATE template0 {kind}")
        made.append(name)
        return name

    yield make
    with connection.cursor() as cursor:
        for name in made:
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_migrated_database_has_no_faults() -> None:
    assert set(told(to())) <= {"siding.I206"}  # a server may lack the better compression as its default


def test_a_database_that_cannot_tell_letters_apart(make_database: Callable[..., str]) -> None:
    found = told(to(NAME=make_database("ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE 'C'")))
    assert set(found) - {"siding.I206"} == {"siding.W205", "siding.E207"}
    assert "LC_CTYPE C" in found["siding.W205"]
    assert "TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'" in found["siding.W205"]


def test_a_database_of_another_encoding(make_database: Callable[..., str]) -> None:
    found = told(to(NAME=make_database("ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'")))
    assert "the encoding SQL_ASCII" in found["siding.E204"]


def test_a_database_that_is_not_migrated_and_one_of_the_future(make_database: Callable[..., str]) -> None:
    other = to(NAME=make_database("ENCODING 'UTF8'"))
    with other.cursor() as cursor:
        cursor.execute("CREATE TABLE django_migrations AS SELECT 'parking' AS app, '9999_of_tomorrow' AS name")
    found = told(other)
    assert "Run `manage.py migrate`" in found["siding.E207"]
    assert "it has parking.9999_of_tomorrow" in found["siding.E208"]


def test_a_read_only_database() -> None:
    read_only = to(OPTIONS={"options": "-c default_transaction_read_only=on"})
    assert "is a standby or read-only" in told(read_only)["siding.E203"]


def test_poorer_compression_is_named_where_a_better_one_is_there() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'")
        (has_lz4,) = cursor.fetchone()
    found = told(to(OPTIONS={"options": "-c default_toast_compression=pglz"}))
    assert ("siding.I206" in found) == has_lz4


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"NAME": "no_such_database"}, "Create it, or correct SIDING_DATABASE_URL."),
        ({"PASSWORD": "wrong", "USER": "nobody"}, "SIDING_DATABASE_URL"),
        ({"HOST": "no-such-host.invalid"}, "Correct the host in SIDING_DATABASE_URL."),
    ],
)
def test_a_database_that_cannot_be_used_says_what_to_do(changes: dict[str, Any], said: str) -> None:
    (fault,) = database.faults(to(**changes))
    assert fault.id == "siding.E201"
    assert said in str(fault.hint)
    assert "wrong" not in str(fault)


def test_a_closed_port() -> None:
    port = free_port()
    (fault,) = database.faults(to(PORT=port))
    assert f":{port}/" in fault.msg
    assert fault.hint == "Start PostgreSQL, or correct the address in SIDING_DATABASE_URL."


def test_a_server_that_says_nothing_does_not_keep_us() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        began = time.monotonic()
        (fault,) = database.faults(to(PORT=mute.getsockname()[1], OPTIONS={"connect_timeout": 2}))
        assert time.monotonic() - began < 20
    assert fault.id == "siding.E201"


def test_an_old_server() -> None:
    assert database.version(150000) == []
    (fault,) = database.version(140012)
    assert str(fault).startswith("SIDING_DATABASE_URL: (siding.E202) PostgreSQL 14.12 is too old.")
