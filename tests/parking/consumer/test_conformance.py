"""The conformance suite against the kit itself, on both ledgers, as somebody who wrote the gate in Go would run it."""

import shlex
import subprocess
import sys
import uuid

import pytest

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
MODULE = "parking.consumer.conformance"


def conformance(bootstrap, ledger, tmp_path, *more):
    secret = tmp_path / "secret"
    secret.write_text("of the flow")
    start = f"env CONFORMANCE_SECRET='of the flow' {sys.executable} -m {MODULE}.reference {shlex.quote(str(ledger))}"
    command = [sys.executable, "-m", MODULE, "--bootstrap", bootstrap, "--flow", f"conform-{uuid.uuid4().hex[:8]}"]
    command += ["--secret-file", str(secret), "--start", start, "--seconds", "60", *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def test_the_kit_conforms_on_sqlite(kafka, folder, tmp_path):
    done = conformance(kafka, folder / "service.db", tmp_path, "--kills", "3")
    assert done.stdout.splitlines()[-1] == "CONFORMS", done.stdout + done.stderr[-2000:]
    assert done.returncode == 0
    assert done.stdout.count("✓") >= 27


def test_the_kit_conforms_on_postgresql(kafka, postgres, tmp_path):
    done = conformance(kafka, postgres, tmp_path, "--kills", "3")
    assert done.stdout.splitlines()[-1] == "CONFORMS", done.stdout + done.stderr[-2000:]


def test_what_does_not_keep_its_word_does_not_conform(kafka, folder, tmp_path):
    """Without its secret this consumer obeys whoever can write to the topic."""
    start = f"{sys.executable} -m {MODULE}.reference {folder / 'service.db'}"
    done = conformance(
        kafka, folder, tmp_path, "--kills", "0", "--only", "signature", "--seconds", "10", "--start", start
    )
    assert done.returncode == 1
    assert "✗ a wrong signature is refused anonymously" in done.stdout
    assert "DOES NOT CONFORM: 1 violations" in done.stdout
