"""The journal: append-only by the database itself, and a chain in which a change shows."""

from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.db.transaction import TransactionManagementError

from parking import journal
from parking.actor import Actor
from parking.models import JournalEntry

ANA = Actor("user:1", "ana")


def write(detail: dict[str, Any] | None = None) -> JournalEntry:
    return journal.write(actor=ANA, verb="look", reason="on call", detail=detail)


@pytest.fixture
def chain(db):
    entries = [write(detail={"n": n, "note": "nul \0, half \ud83d"}) for n in range(3)]
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else nothing may alter or truncate the table
    return entries


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE parking_journalentry SET reason = 'other'",
        "DELETE FROM parking_journalentry",
        "TRUNCATE parking_journalentry",
    ],
)
def test_the_database_refuses_changes(chain, statement):
    with pytest.raises(ProgrammingError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert JournalEntry.objects.count() == 3


def test_the_chain_is_whole(chain):
    assert journal.first_broken() is None
    assert bytes(chain[0].previous) == journal.BEGINNING
    assert bytes(chain[2].previous) == bytes(chain[1].digest)


@pytest.mark.parametrize(
    "change",
    ["reason = 'other'", "actor_id = 'user:2'", "detail = '{}'", "at = at + interval '1 second'", "digest = previous"],
)
def test_tampering_shows(chain, change):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE parking_journalentry DISABLE TRIGGER USER")
        cursor.execute(f"UPDATE parking_journalentry SET {change} WHERE id = %s", [chain[1].pk])
    assert journal.first_broken() == chain[1].pk


def test_a_missing_entry_shows(chain):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE parking_journalentry DISABLE TRIGGER USER")
        cursor.execute("DELETE FROM parking_journalentry WHERE id = %s", [chain[1].pk])
    assert journal.first_broken() == chain[2].pk


@pytest.mark.django_db(transaction=True)
def test_it_is_written_in_the_transaction_of_what_it_tells_of():
    with pytest.raises(TransactionManagementError):
        write()
