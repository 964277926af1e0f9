"""Statements about a whole batch: one array for each column, bound by the server in PostgreSQL's binary form.

Django binds on the client, as text, and psycopg makes its arrays element by element: both took longer than the
statements themselves. Answers come in the binary form, too: bytes are not written out as text and read again.
"""

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from struct import Struct
from typing import Any

from django.db import connection
from psycopg import Cursor
from psycopg.adapt import Dumper
from psycopg.pq import Format

_HEAD, _SIZE = Struct(">iiI"), Struct(">ii")
_LENGTH = Struct(">i")
_NULL = _LENGTH.pack(-1)
_INT8, _INT4, _INT2 = Struct(">iq"), Struct(">ii"), Struct(">ih")
_BYTEA = 17
_BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Array(bytes):
    """An array in the binary form. Made by `array`."""


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Array) -> bytes:
        return obj


def ask(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """The rows that a statement answers, in the connection's transaction. Raises Django's errors."""
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.adapters.register_dumper(Array, _ArrayDumper)
        cursor.execute(sql, parameters, binary=True)
        return cursor.fetchall() if cursor.description else []


def array(kind: str, values: Iterable[Any]) -> Array:
    """Values of one of the `_KINDS`, None for null, as a parameter that is cast to an array of that type."""
    oid, element = _KINDS[kind]
    elements = [_NULL if value is None else element(value) for value in values]
    return Array(b"".join((_HEAD.pack(1, 1, oid), _SIZE.pack(len(elements), 1), *elements)))


def pairs(idents: Collection[tuple[int, bytes]]) -> tuple[Array, Array]:
    """Flows and digests (SHA-256): what names a key, an event or an error group."""
    flows, digests = array("int8", [flow for flow, _ in idents]), [b"", *[digest for _, digest in idents]]
    return flows, Array(_HEAD.pack(1, 1, _BYTEA) + _SIZE.pack(len(idents), 1) + _LENGTH.pack(32).join(digests))


def moment(at: datetime) -> int:
    """A timestamptz as PostgreSQL has it: microseconds since 2000."""
    return (at - _BEGIN) // _MICROSECOND


def _bytes(value: bytes) -> bytes:
    return _LENGTH.pack(len(value)) + value


def _text(value: str) -> bytes:
    return _bytes(value.encode())


def _time(value: datetime) -> bytes:
    return _INT8.pack(8, moment(value))


_KINDS: dict[str, tuple[int, Callable[[Any], bytes]]] = {
    "int8": (20, partial(_INT8.pack, 8)),
    "int4": (23, partial(_INT4.pack, 4)),
    "int2": (21, partial(_INT2.pack, 2)),
    "bytea": (_BYTEA, _bytes),
    "text": (25, _text),
    "varchar": (1043, _text),
    "timestamptz": (1184, _time),
}
"""Type → its number in PostgreSQL's catalogue, and how an element is written."""
