"""From an event to its effect, with the real stand-in for the model and a real database."""

import json
import threading
import uuid

import psycopg
import pytest
from django.conf import settings
from psycopg import sql
from psycopg.conninfo import make_conninfo

from console.demo.disputes import bank
from console.demo.disputes.decide import Decider
from console.demo.disputes.model import limited, serve
from console.demo.disputes.stories import Sender
from parking.consumer import Event, Poison, RateLimited
from parking.coordinates import Coordinates
from parking.fingerprint import fingerprint

ACCOUNT = "acc-20417"


@pytest.fixture
def decide():
    server = serve(0)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield Decider(f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    server.server_close()


@pytest.fixture
def database():
    """Business tables in a schema of their own."""
    at = settings.DATABASES["default"]
    login = {name: str(at[name.upper()]) for name in ("host", "port", "user", "password")}
    with psycopg.connect(make_conninfo("dbname=postgres", **login)) as connection:
        schema = sql.Identifier(f"bank_{uuid.uuid4().hex}")
        connection.execute(sql.SQL("CREATE SCHEMA {0}; SET search_path TO {0}").format(schema))
        bank.create_tables(connection)
        yield connection
        connection.rollback()


def event(event_type, *, offset=0, account=ACCOUNT, **changed):
    """A live event whose first question is not rate limited."""
    sender = Sender(seed=1, first=offset)
    members = {**sender.members(event_type, account), **changed}
    while limited(members):
        members["ledger_seq"] += 1_000_000
    return raw(event_type, json.dumps(members).encode(), offset=offset, account=account)


def raw(event_type, value, *, offset=0, account=ACCOUNT):
    headers = (("event-type", event_type.encode()), ("note", None))
    return Event(
        f"evt-{offset}", account.encode(), account.encode(), value, headers, Coordinates("disputes", 1, offset)
    )


def test_a_dispute_is_decided_and_takes_effect_with_its_bytes_and_its_evidence(decide, database):
    one = event("ChargeDisputed", amount_cents=120000, reason="fraud", offset=7)
    effect = decide(one)
    assert effect.evidence["model"] == "m-4.1"
    assert effect.evidence["verdict"] == "refund"
    effect.write(database)
    row = database.execute("SELECT event_id, done, fingerprint, source_partition, source_offset FROM effect").fetchone()
    assert row == ("evt-7", "refunded 120000 for fraud", fingerprint(one.key, one.value, one.headers), 1, 7)
    assert database.execute("SELECT refunded_cents FROM account").fetchone() == (120000,)


def test_effects_are_numbered_in_the_order_in_which_they_happen(decide, database):
    for offset, (event_type, changed) in enumerate(
        [("LimitChanged", {"limit_cents": 5000}), ("EvidenceAdded", {}), ("LimitChanged", {"limit_cents": 0})]
    ):
        decide(event(event_type, offset=offset, **changed)).write(database)
    done = [row[0] for row in database.execute("SELECT done FROM effect ORDER BY number")]
    assert [done[0], done[2]] == ["limit 5000", "limit 0"]
    assert database.execute("SELECT limit_cents FROM account").fetchone() == (0,)


def test_nothing_happens_to_a_closed_account(decide, database):
    decide(event("AccountClosed")).write(database)
    with pytest.raises(Poison, match="acc-20417 was closed by evt-0") as poison:
        decide(event("EvidenceAdded", offset=1)).write(database)
    assert poison.value.error_type == "AccountIsClosed"
    assert database.execute("SELECT count(*) FROM effect").fetchone() == (1,)


def test_a_decision_that_does_not_pass_validation_is_poison_and_says_why(decide):
    with pytest.raises(Poison, match=r"The decision did not pass validation: 2 errors\.") as poison:
        decide(event("ChargeDisputed", amount_cents="1200.00", reason="other"))
    assert poison.value.error_type == "InvalidDecision"
    assert [error.path for error in poison.value.validation_errors] == ["/amount_cents", "/reason"]
    assert poison.value.evidence
    assert poison.value.evidence["prompt"] == "p-112"


@pytest.mark.parametrize(
    ("one", "error_type"),
    [
        (event("EvidenceAdded", evidence="fax"), "InvalidEvent"),
        (event("EvidenceAdded", account="acc-1", dispute_id=None), "InvalidEvent"),
        (raw("Gossip", b"{}"), "InvalidEvent"),
        (raw("LimitChanged", b"[1]"), "InvalidEvent"),
        (raw("LimitChanged", b'{"account": 120\x00\xff'), "not-json"),
        (raw("AccountClosed", b'{"account": "acc-9", "ledger_seq": 1}'), "WrongKey"),
    ],
)
def test_an_event_that_never_will_succeed_is_poison(decide, one, error_type):
    with pytest.raises(Poison) as poison:
        decide(one)
    assert poison.value.error_type == error_type


def test_the_model_may_ask_to_wait(decide):
    sender = Sender(seed=1)
    members = sender.members("RefundRequested", ACCOUNT)
    while not limited(members):
        members = sender.members("RefundRequested", ACCOUNT)
    with pytest.raises(RateLimited) as busy:
        decide(raw("RefundRequested", json.dumps(members).encode()))
    assert busy.value.retry_after == 1
    assert decide(raw("RefundRequested", json.dumps(members).encode())).evidence
