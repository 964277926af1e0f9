"""The ledger's tables, and what is said where the database cannot be used."""

import re
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from parking.consumer.errors import Unavailable
from parking.consumer.ledger.__main__ import main
from parking.consumer.ledger.ledger import VERSION, Ledger, statements_of
from parking.consumer.ledger.postgres import PostgresLedger
from parking.consumer.ledger.sqlite import SqliteLedger
from tests.parking.consumer.service import FLOW, Log, Service, source

OLD_FATE = """
INSERT INTO siding_fate (flow, id_digest, event_id, state, key_digest, hold_key, source_topic, source_partition,
    source_offset, source_timestamp, content, source_fingerprint, fingerprint, result, at)
SELECT 'f', CAST('1' AS text), CAST('e' AS text), 'applied', CAST('2' AS text), CAST('k' AS text), 's', 0, 0, 0,
    CAST('3' AS text), CAST('4' AS text), CAST('5' AS text), CAST('{}' AS text), 0
"""
ODD_KEYS = [b"", b"\x00", b"\xff\xfe", "Schlüssel".encode(), b"k" * 100_000]


def test_prepare_can_be_called_again_and_by_several_at_once(make_ledger: Callable[[], Ledger]) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: make_ledger().prepare(), range(8)))
    make_ledger().prepare()
    make_ledger().check()


def test_missing_tables_are_said_with_the_way_out(make_ledger: Callable[[], Ledger]) -> None:
    with pytest.raises(Unavailable, match=r"siding_\* are missing.*call ledger\.prepare\(\)"):
        make_ledger().check()
    with pytest.raises(Unavailable, match=r"a table is missing: run ledger\.prepare"):
        _look(make_ledger())


def test_tables_of_another_version_are_not_used(make_ledger: Callable[[], Ledger]) -> None:
    ledger = make_ledger()
    ledger.prepare()
    with ledger.transaction("") as transaction:
        transaction.connection.execute("INSERT INTO siding_version (version) VALUES (99)")
    with pytest.raises(Unavailable, match=f"of version 99, version {VERSION} is needed"):
        ledger.check()


def test_users_may_run_the_schema_files_themselves(
    make_ledger: Callable[[], Ledger], capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = make_ledger()
    with ledger.transaction("") as transaction:
        for statement in statements_of(ledger.schema, 1):
            transaction.connection.execute(statement)
    with pytest.raises(Unavailable, match=rf"of version 1, .*ledger {ledger.schema} --from 1"):
        ledger.check()
    main([ledger.schema, "--from", "1"])
    printed = capsys.readouterr().out
    with ledger.transaction("") as transaction:
        for statement in filter(str.strip, re.sub("--.*", "", printed).split(";")):
            transaction.connection.execute(statement)
    ledger.check()


def test_what_version_1_kept_as_result_is_evidence_now(make_ledger: Callable[[], Ledger], log: Log) -> None:
    ledger = make_ledger()
    with ledger.transaction("") as transaction:
        for version in (1, 2):
            if version == 2:
                transaction.connection.execute(
                    OLD_FATE.replace("AS text", "AS blob" if ledger.schema == "sqlite" else "AS bytea")
                )
            for statement in statements_of(ledger.schema, version):
                transaction.connection.execute(statement)
    with ledger.transaction("f") as transaction:
        row = transaction.connection.execute("SELECT result, evidence FROM siding_fate").fetchone()
    assert (row[0], bytes(row[1])) == (None, b"{}")


def test_a_wrong_password_is_one_clear_line_and_recovers(postgres: str) -> None:
    with pytest.raises(Unavailable) as error:
        PostgresLedger(make_conninfo(postgres, password="wrong")).check()
    line = str(error.value)
    assert line.startswith("ledger: PostgreSQL ")
    assert "the login was refused: check user and password" in line
    assert "\n" not in line
    assert "wrong" not in line


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"port": "1"}, "cannot be reached: check the address"), ({"dbname": "nowhere"}, "create the database")],
)
def test_an_address_that_leads_nowhere(postgres: str, changes: dict[str, str], said: str) -> None:
    with pytest.raises(Unavailable, match=said):
        PostgresLedger(make_conninfo(postgres, **changes)).check()


def test_the_connection_that_was_cut_is_replaced(postgres: str) -> None:
    ledger = PostgresLedger(postgres)
    ledger.prepare()
    with ledger.transaction("") as transaction:
        pid = transaction.connection.info.backend_pid
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 60000)", [pid])  # and waits until it is gone
    with pytest.raises(Unavailable, match=r"connection was lost|shutting down|cannot be reached"):
        ledger.check()
    ledger.check()


def test_a_sqlite_file_that_cannot_be_opened(folder: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be opened: check the folder"):
        SqliteLedger(folder / "nowhere" / "service.db").check()


def test_a_lock_that_is_held_too_long_is_waited_for_again(folder: Path) -> None:
    ledger = SqliteLedger(folder / "service.db", patience=0.05)
    ledger.prepare()
    other = sqlite3.connect(folder / "service.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="held the lock for too long"), ledger.transaction("f"):
        pytest.fail("a transaction began under the lock of another")
    other.execute("COMMIT")
    with ledger.transaction("f") as transaction:
        transaction.lock(b"k")
    other.close()


def test_what_the_block_raises_passes_through_and_leaves_nothing(ledger: Ledger) -> None:
    with pytest.raises(ZeroDivisionError):
        _fail(ledger)
    with ledger.transaction("f") as transaction:
        assert transaction.connection.execute("SELECT count(*) FROM siding_hold").fetchone()[0] == 0


def test_postgres_reads_committed_whatever_the_default(postgres: str) -> None:
    options = conninfo_to_dict(postgres)["options"]
    strict = make_conninfo(postgres, options=f"{options} -c default_transaction_isolation=serializable")
    with PostgresLedger(strict).transaction("") as transaction:
        assert transaction.connection.execute("SHOW transaction_isolation").fetchone()[0] == "read committed"


@pytest.mark.parametrize("key", ODD_KEYS)
def test_any_bytes_are_a_key(service: Service, log: Log, key: bytes) -> None:
    service.fails[b"e1"] = ValueError("no")
    service.take(source("e1", 0, key=key), source("e2", 1, key=key))
    service.fails.clear()
    assert log.said == ["poison e1", "held e2"]
    assert [hold_key for hold_key, _ in log.wires] == [key, key]


@pytest.mark.parametrize("event_id", ["e\x00", "é" * 500, "\U0001f642", "' OR 1=1 --", "%s", ":flow"])
def test_any_text_is_an_event_id(service: Service, log: Log, event_id: str) -> None:
    service.fails[b"e1"] = ValueError("no")
    service.take(source("e1", 0, event_id=event_id), source("e1", 0, event_id=event_id))
    assert [parked.event_id for parked in log.announcements] == [event_id]


def test_flows_share_tables_but_nothing_else(make_service, log: Log) -> None:
    one, two = make_service(), make_service(replace(FLOW, name="other"))
    one.fails[b"e1"] = ValueError("no")
    one.take(source("e1", 0))
    two.take(source("e1", 0))
    assert log.said == ["poison e1"]
    assert two.applied == ["e1"]


def _fail(ledger: Ledger) -> None:
    with ledger.transaction("f") as transaction:
        transaction.lock(b"k")
        raise ZeroDivisionError


def _look(ledger: Ledger) -> None:
    with ledger.transaction("f") as transaction:
        transaction.lock(b"k")
