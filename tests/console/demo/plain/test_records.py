"""Each form, filled with what the real producer had, gives exactly the bytes that the real producer wrote."""

import base64
import json
from pathlib import Path

import pytest

from console.demo.plain import records
from console.demo.plain.records import Value

CAPTURED = Path(__file__).resolve().parents[5] / "shared" / "vectors" / "captured.jsonl"
ORIGINAL = ("traceparent", "tag", "nul")
DATA = "org.apache.kafka.connect.errors.DataException"
FORMS = {
    ("spring", "listener"): (
        "spring33-listener-cause",
        {
            "topic": "s33-billing-orders",
            "group": "billing",
            "error": "java.lang.IllegalStateException",
            "message": "cannot book order A-1001",
        },
    ),
    ("spring", "retries"): (
        "spring41-retrytopic-dlt",
        {
            "topic": "s41-retry-orders",
            "group": "retry-billing",
            "error": "com.example.billing.InvalidAmountException",
            "message": "amount must be positive: -3",
        },
    ),
    ("spring", "unreadable"): (
        "spring41-deser-value",
        {
            "topic": "s41-picky-value",
            "group": "picky",
            "error": "java.lang.IllegalArgumentException",
            "message": "not a billing record: 9 chars",
        },
    ),
    ("connect", "put"): (
        "connect44-task-put",
        {
            "topic": "cn-put",
            "connector": "orders-put-sink",
            "error": "java.lang.IllegalStateException",
            "message": "insert into orders failed",
        },
    ),
    ("connect", "unreadable"): ("connect44-value-converter", {"topic": "cn-json", "connector": "orders-json-sink"}),
    ("connect", "transform"): (
        "connect44-transformation",
        {
            "topic": "cn-transform",
            "connector": "orders-transform-sink",
            "error": DATA,
            "message": 'field "amount" is missing',
        },
    ),
}


@pytest.mark.skipif(not CAPTURED.exists(), reason="the captured records are not here")
@pytest.mark.parametrize(("producer", "form"), FORMS)
def test_a_form_gives_the_captured_bytes(producer, form):
    name, values = FORMS[producer, form]
    lines = map(json.loads, CAPTURED.read_text(encoding="utf-8").splitlines())
    captured = next(line for line in lines if line["id"] == name)
    exact = tuple((header, base64.b64decode(value)) for header, value in captured["headers"] if header not in ORIGINAL)
    filled: dict[str, Value] = {
        **values,
        "partition": captured["expect"]["source_partition"],
        "offset": captured["expect"]["source_offset"],
        "sent": captured["expect"]["source_timestamp_ms"],
    }
    backoffs = [value for header, value in exact if header == "retry_topic-backoff-timestamp"]
    filled |= {f"backoff{number}": int.from_bytes(value) for number, value in enumerate(backoffs, start=1)}
    assert records.added(producer, form, filled) == exact
