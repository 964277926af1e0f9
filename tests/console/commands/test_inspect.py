"""`manage.py inspect`: JSON lines in, readings out, no database."""

import base64
import json
import os
import subprocess
import sys
from typing import Any

from parking.attempt import Attempt, ValidationError
from parking.coordinates import Coordinates
from parking.fingerprint import fingerprint
from parking.record import Record, to_json_line
from parking.wire import Announcement, Outcome, announcement, outcome

NOWHERE = os.environ | {
    "DJANGO_SETTINGS_MODULE": "console.settings",
    "SIDING_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nowhere",
    "SIDING_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
}


def inspect(*lines: str) -> tuple[int, list[dict[str, Any]], str]:
    done = subprocess.run(
        [sys.executable, "manage.py", "inspect"],
        input="\n".join(lines).encode("utf-8", "surrogateescape"),
        env=NOWHERE,
        capture_output=True,
        timeout=240,
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def record(wire) -> str:
    return to_json_line(Record("parking", 3, 7, 1_796_040_000_000, wire.key, wire.value, wire.headers))


def poison() -> Announcement:
    error = ValidationError("/amount_cents", "a whole number > 0", "-3", "refund instead")
    tries = (Attempt(2, 1000, "A", "first"), Attempt(3, 2000, "ValueError", "amount -3", "Traceback", (error,)))
    return Announcement(
        kind="poison",
        flow="payments",
        event_id="e1",
        position=9,
        fingerprint=fingerprint(b"k", b"v", ()),
        source=Coordinates("payments", 1, 2, 3),
        key=b"k",
        value=b"v",
        attempts=tries,
        consumer_group="g",
    )


def test_our_own_records():
    answer = Outcome(outcome="released", flow="payments", hold_key=b"k", position=10)
    code, (first, second), errors = inspect(record(announcement.encode(poison())), record(outcome.encode(answer)))
    assert (code, errors) == (0, "")
    wanted = {
        "framework": "siding",
        "kind": "dead_letter",
        "event_id": "e1",
        "source_topic": "payments",
        "source_partition": 1,
        "source_offset": 2,
        "source_timestamp_ms": 3,
        "consumer_group": "g",
        "error_class": "ValueError",
        "error_message": "amount -3",
        "attempts": 3,
        "stacktrace": "Traceback",
        "failed_at_ms": 2000,
        "first_failed_at_ms": 1000,
        "payload_missing": False,
        "validation_errors": [
            {"path": "/amount_cents", "expected": "a whole number > 0", "actual": "-3", "hint": "refund instead"}
        ],
    }
    assert {name: first[name] for name in wanted} == wanted
    assert len(bytes.fromhex(first["error_group"])) == 32
    assert (second["framework"], second["kind"]) == ("siding", "outcome")


def test_a_bad_line_is_named_and_the_others_are_printed():
    code, readings, errors = inspect(
        "nonsense",
        '{"topic": "t", "partition": 0, "offset": 1, "timestamp_ms": 2, "headers": []}',
        "",
        '{"topic": "t", "value_b64": "!!!"}',
        '{"topic": "t", "headers": [["a"]]}',
        "[" * 100_000,
        "\udcff\udcfe",
    )
    assert code != 0
    assert [reading["event_id"] for reading in readings] == ["t/0/1@2"]
    assert "line 1: line: expected one JSON object" in errors
    assert "line 4: value_b64: expected base64 or null, arrived '!!!'" in errors
    assert "line 5: headers[0]: expected [name, base64 or null]" in errors
    assert "line 6: " in errors
    assert "line 7: " in errors
    assert "Traceback" not in errors


def test_a_record_of_ours_that_cannot_be_read_says_why():
    headers = [["siding-version", base64.b64encode(b"1").decode()]]
    code, (reading,), _ = inspect(json.dumps({"topic": "t", "headers": headers}))
    assert code == 0
    assert reading["framework"] == "siding"
    assert reading["unreadable"] == "header siding-kind: expected poison or held or outcome, arrived nothing"
