"""The tables that intake fills, column by column, and how a batch gets into them: one statement per table."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from psycopg.types.string import BytesBinaryDumper

from parking.ask import array, ask
from parking.intake.columns import LATEST_MS

Rows = Sequence[tuple[Any, ...]]
MOMENT = "int8"
"""A timestamptz as `copy` takes it where each row has one: what PostgreSQL has in its place (`ask.moment`)."""
_BEGIN_MS = 946_684_800_000
"""Milliseconds from 1970 to 2000."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns in the order of the rows that are given, with the types that PostgreSQL has for them."""

    name: str
    types: dict[str, str]

    @property
    def columns(self) -> str:
        return ", ".join(f'"{column}"' for column in self.types)

    def without(self, *columns: str) -> "Table":
        """The same table, of whose rows these columns never change."""
        return Table(self.name, {column: kind for column, kind in self.types.items() if column not in columns})

    @property
    def unnested(self) -> str:
        """A table function of one array per column."""
        return f"unnest({', '.join(f'%s::{kind}[]' for kind in self.types.values())})"


EVENT_STATE = Table(
    "parking_eventstate",
    {
        "id": "int8",
        "flow_id": "int8",
        "event_digest": "bytea",
        "stored_at": MOMENT,
        "quarantine_id": "int8",
        "position": "int8",
        "kind": "varchar",
        "state": "varchar",
        "error_group_id": "int8",
        "attempt_count": "int4",
        "fate_token": "int8",
        "fate_fingerprint": "bytea",
        "settled_at": "timestamptz",
    },
)
CHANGED_STATE = EVENT_STATE.without("flow_id", "event_digest", "stored_at")
PARKED_EVENT = Table(
    "parking_parkedevent",
    {
        "id": "int8",
        "stored_at": MOMENT,
        "cluster_id": "int8",
        "dialect": "varchar",
        "event_id": "text",
        "event_id_bytes": "bytea",
        "event_type": "text",
        "parking_topic": "varchar",
        "parking_partition": "int4",
        "parking_offset": "int8",
        "parked_at": "timestamptz",
        "source_topic": "text",
        "source_partition": "int4",
        "source_offset": "int8",
        "source_at": "timestamptz",
        "consumer_group": "text",
        "fingerprint": "bytea",
        "error_type": "text",
        "error_message": "text",
        "blocked_by": "text",
        "unreadable_reason": "text",
        "not_original": "text",
    },
)
PAYLOAD = Table(
    "parking_eventpayload",
    {
        "id": "int8",
        "stored_at": MOMENT,
        "key": "bytea",
        "value": "bytea",
        "headers": "bytea",
        "raw_headers": "bytea",
        "wrapped": "bytea",
    },
)
ATTEMPT = Table(
    "parking_attempt",
    {
        "event_state_id": "int8",
        "token": "int8",
        "number": "int8",
        "at": MOMENT,
        "error_type": "text",
        "message": "text",
        "stacktrace": "text",
        "validation_errors": "jsonb",
        "retryable": "bool",
        "evidence": "jsonb",
    },
)
OUTCOME = Table(
    "parking_outcome",
    {
        "flow_id": "int8",
        "topic_id": "int8",
        "partition": "int4",
        "offset": "int8",
        "hold_key_digest": "bytea",
        "event_digest": "bytea",
        "outcome": "varchar",
        "token": "int8",
        "replay_id": "text",
        "fate_token": "int8",
        "fingerprint": "bytea",
        "position": "int8",
        "attempts": "jsonb",
        "evidence": "jsonb",
        "received_at": "timestamptz",
    },
)
PARKED_RECORD = Table(
    "parking_parkedrecord",
    {
        "topic_id": "int8",
        "partition": "int4",
        "offset": "int8",
        "content": "bytea",
        "event_state_id": "int8",
    },
)
QUARANTINE = Table(
    "parking_quarantine",
    {
        "id": "int8",
        "hold_key_id": "int8",
        "flow_id": "int8",
        "state": "varchar",
        "poison": "int4",
        "held": "int4",
        "settled": "int4",
        "depth_bucket": "int2",
        "last_position": "int8",
        "opened_at": "timestamptz",
        "oldest_at": "timestamptz",
        "last_at": "timestamptz",
        "released_at": "timestamptz",
        "ordered_partition": "int4",
        "first_error": "text",
    },
)
CHANGED_QUARANTINE = QUARANTINE.without("hold_key_id", "flow_id", "opened_at")


def moment_of(ms: int) -> int | None:
    """A MOMENT of milliseconds since 1970; what no clock can have said (year 10 000) is unknown."""
    return (ms - _BEGIN_MS) * 1000 if 0 < ms < LATEST_MS else None


def jsonb(value: Any) -> bytes:
    """A JSON value as `copy` takes it: in PostgreSQL's binary form, whose first byte is the version."""
    return b"\x01" + json.dumps(value).encode()


def copy(table: Table, rows: Rows) -> None:
    """New rows, by binary COPY: the fastest way in, and it refuses a value of another type.

    Columns that are not named get their database default.
    """
    if rows:
        sql = f"COPY {table.name} ({table.columns}) FROM STDIN (FORMAT BINARY)"
        with connection.wrap_database_errors, connection.cursor() as cursor:
            cursor.adapters.register_dumper(bytes, BytesBinaryDumper)  # psycopg's own for `bytea` is written in Python
            with cursor.copy(sql) as copying:
                copying.set_types(["bytea" if kind == "jsonb" else kind for kind in table.types.values()])
                for row in rows:
                    copying.write_row(row)


def update(table: Table, rows: Rows) -> None:
    """Changed rows, by the first column, which is the id."""
    if rows:
        assigned = ", ".join(f'"{column}" = new."{column}"' for column in list(table.types)[1:])
        source = f"{table.unnested} AS new ({table.columns})"
        columns = (
            array(kind, column) for kind, column in zip(table.types.values(), zip(*rows, strict=True), strict=True)
        )
        ask(f"UPDATE {table.name} t SET {assigned} FROM {source} WHERE t.id = new.id", *columns)  # noqa: S608 - our names
