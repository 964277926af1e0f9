"""The business tables: what accounts are like, and every effect that an event had, once, in order."""

import hashlib
from typing import Any, NamedTuple

import psycopg

from parking.consumer import Event, Poison
from parking.fingerprint import fingerprint

TABLES = """
CREATE TABLE IF NOT EXISTS account (
    account text PRIMARY KEY,
    closed_by text,
    limit_cents bigint NOT NULL DEFAULT 0,
    refunded_cents bigint NOT NULL DEFAULT 0,
    last_event text NOT NULL
);
-- Nothing here forbids a second effect of one event: keeping it out is the kit's business, and one must be seen.
CREATE TABLE IF NOT EXISTS effect (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id text NOT NULL,
    account text NOT NULL,
    event_type text NOT NULL,
    done text NOT NULL,
    value_sha256 bytea NOT NULL,
    fingerprint bytea NOT NULL,
    source_partition integer NOT NULL,
    source_offset bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS effect_by_account ON effect (account, number);
CREATE INDEX IF NOT EXISTS effect_by_event ON effect (event_id);
"""

Connection = psycopg.Connection[tuple[Any, ...]]


class Change(NamedTuple):
    """What one event does to its account, and the words for it."""

    done: str
    refunded_cents: int = 0
    limit_cents: int | None = None
    closes: bool = False


def create_tables(connection: Connection) -> None:
    connection.execute(TABLES)


def change(event_type: str, event: dict[str, Any], decision: dict[str, Any] | None) -> Change:
    """What a valid event does, given the valid decision about it where one is needed."""
    if decision is not None and decision["verdict"] == "refund":
        return Change(f"refunded {decision['amount_cents']} for {decision['reason']}", decision["amount_cents"])
    if decision is not None:
        return Change(f"rejected {decision['amount_cents']} for {decision['reason']}")
    if event_type == "LimitChanged":
        return Change(f"limit {event['limit_cents']}", limit_cents=event["limit_cents"])
    if event_type == "AccountClosed":
        return Change("closed", closes=True)
    return Change(f"{event['evidence']} filed for {event['dispute_id']}")


def apply(connection: Connection, *, event: Event, event_type: str, account: str, change: Change) -> None:
    """Write the effect of one event, in the caller's transaction. Raises Poison where the account is closed."""
    row = connection.execute("SELECT closed_by FROM account WHERE account = %s", [account]).fetchone()
    if row and row[0]:
        raise Poison(f"{account} was closed by {row[0]}", error_type="AccountIsClosed")
    connection.execute(
        """INSERT INTO account (account, closed_by, limit_cents, refunded_cents, last_event)
           VALUES (%(account)s, %(closed)s, coalesce(%(limit)s, 0), %(refunded)s, %(event)s)
           ON CONFLICT (account) DO UPDATE SET closed_by = EXCLUDED.closed_by, last_event = EXCLUDED.last_event,
               limit_cents = coalesce(%(limit)s, account.limit_cents),
               refunded_cents = account.refunded_cents + EXCLUDED.refunded_cents""",
        {
            "account": account,
            "closed": event.event_id if change.closes else None,
            "limit": change.limit_cents,
            "refunded": change.refunded_cents,
            "event": event.event_id,
        },
    )
    connection.execute(
        """INSERT INTO effect (event_id, account, event_type, done, value_sha256, fingerprint,
               source_partition, source_offset) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)""",
        [
            event.event_id,
            account,
            event_type,
            change.done,
            hashlib.sha256(event.value or b"").digest(),
            fingerprint(event.key, event.value, event.headers),
            event.source.partition,
            event.source.offset,
        ],
    )
