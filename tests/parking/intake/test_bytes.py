"""Bytes are sacred (guarantee 3), and what is derived from them may fail without failing the event."""

import base64
import json
import time

import pytest

from parking import headers as packed_headers
from parking.decoding import decode
from parking.intake.read import Arrived
from parking.kafka_in import CUT
from parking.models import EventState, Quarantine

from .conftest import attempt, moved, value_of

B64 = base64.b64decode
NUL = [  # case ING-01
    (B64("azE="), B64("eyJhIjoieFx1MDAwMHkifQ=="), ()),
    (B64("azI="), B64("eyJhXHUwMDAwIjoxfQ=="), ()),
    (B64("awAz"), B64("AAFyYXc="), ()),
    (B64("azQ="), B64("eyJhIjoiMSJ9"), (("exception-message", B64("YmFkIAAgYnl0ZQ==")),)),
    (B64("azU="), B64("eyJhIjoiXFx1MDAwMCJ9"), ()),
]
SURROGATES = [  # case ING-02
    B64(value)
    for value in (
        "eyJub3RlIjoiY3V0IFx1ZDgzZCJ9",
        "eyJub3RlIjoiXHVkZTAwIGxlYWQifQ==",
        "eyJub3RlIjoib2sgXHVkODNkXHVkZTAwIn0=",
        "eyJub3RlIjoicmF3IO2gvSJ9",
    )
]
HUGE = [b'{"n":' + b"9" * 5000 + b"}", b"[" * 1200 + b"]" * 1200, b"[" * 100_000 + b"]" * 100_000]  # case ING-27
LOOSE = [b'{"a":NaN}', b'{"a":-Infinity}', b'{"a":1e400}', b'{"a":1e200000}']  # case ING-28
HEADERS = (  # cases ING-05 and ING-06
    ("__connect.errors.exception.message", None),
    ("trace-id", b""),
    ("trace", b"1"),
    ("attempt", b"1"),
    ("trace", b"2"),
    ("attempt", b"\xff\x00"),
    ("näme", b"1"),
)


def stored(lot, event_id):
    payload = lot.state(event_id).payload
    return bytes(payload.key), value_of(lot.state(event_id)), packed_headers.unpack(payload.headers)


@pytest.mark.parametrize(
    ("key", "value", "headers"),
    [
        *NUL,
        *((b"k", value, ()) for value in SURROGATES + HUGE + LOOSE),
        (b"", b"", HEADERS),
        (b"k" * 100_000, None, ()),
    ],
)
def test_come_back_as_they_were(lot, key, value, headers):
    arrived = lot.poison("e1", 1, key=key, value=value, headers=headers)
    lot.store(arrived)
    assert stored(lot, "e1") == (key, value, tuple(headers))
    assert packed_headers.unpack(lot.state("e1").payload.raw_headers) == arrived.record.headers
    decode(value)


def test_null_and_empty_are_two_things(lot):
    lot.store(
        lot.poison("null", 1, key=None, value=None),
        lot.poison("empty", 2, key=b"", value=b""),
        lot.poison("headers", 3, headers=(("a", None), ("a", b""))),
    )
    assert lot.state("null").payload.key is None
    assert lot.state("null").payload.value is None
    assert bytes(lot.state("empty").payload.key) == b""
    assert bytes(lot.state("empty").payload.value) == b""
    assert packed_headers.unpack(lot.state("headers").payload.headers) == (("a", None), ("a", b""))


def test_keys_that_differ_by_a_nul_are_two_keys(lot):
    lot.store(lot.poison("e1", 1, key=b"k\x003"), lot.poison("e2", 1, key=b"k3"))
    assert Quarantine.objects.count() == 2


def test_a_null_key_is_held_by_its_event_id(lot):
    lot.store(lot.poison("e1", 1, key=None), lot.poison("e2", 2, key=None))
    assert {bytes(q.hold_key.key) for q in Quarantine.objects.all()} == {b"e1", b"e2"}


def test_hostile_texts_are_kept_readable(lot):
    message = 'a\0b \ud83d <script>alert("x")</script>'
    lot.store(lot.poison("id\0with nul", 1, attempts=(attempt(1, "T\0ype", message),)))
    event = EventState.objects.get()
    assert event.event.exact_event_id == "id\0with nul"
    assert event.event.event_id == "id\ufffdwith nul"
    assert event.event.error_message == 'a\ufffdb \ufffd <script>alert("x")</script>'
    assert event.attempts.get().error_type == "T\ufffdype"


def test_an_event_id_of_100_kb(lot):
    long = "x" * 100_000
    lot.store(lot.poison(long, 1))
    lot.store(lot.answer("applied", long, fate_token=3))
    event = EventState.objects.get()
    assert event.state == "applied"
    assert len(event.event.event_id) < 1100


@pytest.mark.parametrize(
    "junk", [b"three", b"", b"-1", b"99999999999999999999", b'{"a":1}', b'[{"number":9e99}]', None]
)
def test_junk_attempts_leave_the_event_in_its_place(lot, junk):
    """Case ING-11."""
    arrived = lot.poison("e1", 10)
    headers = tuple(("siding-attempts", junk) if n == "siding-attempts" else (n, v) for n, v in arrived.record.headers)
    lot.store(moved(arrived, headers=headers), lot.held("e2", 11))
    assert lot.state("e1").position == 10
    assert (lot.quarantine.poison, lot.quarantine.held) == (1, 1)


def test_a_huge_attempt_number(lot):
    lot.store(lot.poison("e1", 10, attempts=(attempt(2**63 - 1),)))
    assert lot.state("e1").attempts.get().number == 2**63 - 1
    assert lot.state("e1").attempt_count == 2**31 - 1


def test_damaged_bytes_are_told(lot):
    lot.store(moved(lot.poison("e1", 10, value=b"as it was"), value=b"as it is"))
    event = lot.state("e1").event
    assert "not those that the consumer took" in event.unreadable_reason
    assert "not those that the consumer took" in event.not_original, "else it would be replayed unasked"


def test_headers_that_may_have_been_read_wrongly_are_not_replayed_unasked(lot, plain):
    """confluent-kafka cuts a header's name at a NUL; a fingerprint tells for certain, elsewhere it stays a doubt."""
    native = lot.held("e2", 2, headers=(("", b"1"),))
    spring = plain.record(
        b"k",
        b"v",
        [
            ("kafka_dlt-original-topic", b"orders"),
            ("kafka_dlt-original-partition", bytes(4)),
            ("kafka_dlt-original-offset", bytes(8)),
            ("kafka_dlt-exception-fqcn", b"java.lang.IllegalStateException"),
            ("", b"1"),
        ],
    )
    lot.store(Arrived(native.record, native.topic, doubt=CUT))
    plain.store(Arrived(spring.record, spring.topic, doubt=CUT))
    assert lot.state("e2").event.not_original == ""
    event = EventState.objects.get(flow=plain.flow)
    assert (event.kind, event.event.not_original) == ("poison", CUT)


def test_validation_errors_are_kept(lot):
    members = [{"path": "/amount_cents", "expected": "a whole number > 0", "actual": "-3", "hint": "refund instead\0"}]
    tries = json.dumps([{"number": 1, "error_type": "Invalid", "message": "m", "validation_errors": members}]).encode()
    arrived = lot.poison("e1", 10)
    headers = tuple(("siding-attempts", tries) if n == "siding-attempts" else (n, v) for n, v in arrived.record.headers)
    lot.store(moved(arrived, headers=headers))
    assert lot.state("e1").attempts.get().validation_errors == [{**members[0], "hint": "refund instead\ufffd"}]


def test_ten_thousand_headers_and_ten_megabytes(lot):
    began = time.thread_time()
    many = tuple((f"h{n}", b"v") for n in range(10_000))
    lot.store(lot.poison("e1", 1, headers=many), lot.poison("e2", 2, value=b"\0" * 10_000_000))
    assert stored(lot, "e1")[2] == many
    assert len(stored(lot, "e2")[1]) == 10_000_000
    assert time.thread_time() - began < 10


def test_a_record_whose_headers_the_client_could_not_read_is_kept_raw(lot):
    arrived = lot.record(b"k", b"v", [])
    lot.store(Arrived(arrived.record, arrived.topic, "The headers cannot be read: a name is not UTF-8."))
    event = EventState.objects.get()
    assert event.kind == "broken"
    assert value_of(event) == b"v"
    assert "not UTF-8" in event.event.unreadable_reason
