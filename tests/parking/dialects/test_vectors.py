"""Every sample record is read right, or not at all."""

import base64
import json
from pathlib import Path

import pytest

from parking.dialects import UNATTRIBUTED, identify
from parking.record import from_json_line

VECTORS = Path(__file__).parents[4] / "shared" / "vectors"
RETRYABLE_TOPIC = ("kafka_original-", "kafka_exception-", "retry_topic-")


def _samples():
    if not VECTORS.exists():
        return []
    captured = (VECTORS / "captured.jsonl").read_text().splitlines()
    return json.loads((VECTORS / "dlq_vectors.json").read_text()) + [json.loads(line) for line in captured]


SAMPLES = _samples()


def _is_dlpr(sample):
    retryable = any(name.startswith(RETRYABLE_TOPIC) for name, _ in sample["headers"])
    return sample["framework"] == "spring-kafka" and not retryable


def _id(sample):
    return sample["id"]


@pytest.mark.skipif(not SAMPLES, reason="the sample records are not beside this checkout (../shared/vectors)")
def test_there_are_samples():
    assert sum(map(_is_dlpr, SAMPLES)) > 30


@pytest.mark.parametrize("sample", [s for s in SAMPLES if _is_dlpr(s)], ids=_id)
def test_spring(sample):
    shown = identify(from_json_line(json.dumps(sample))).shown()
    expected = dict(sample["expect"])
    part = expected.pop("stacktrace_contains")
    assert part is None or part in shown["stacktrace"]
    assert {name: shown[name] for name in expected} == expected
    assert shown["framework"] == "spring-kafka"


@pytest.mark.parametrize("sample", [s for s in SAMPLES if not _is_dlpr(s)], ids=_id)
def test_other_families_are_not_guessed(sample):
    reading = identify(from_json_line(json.dumps(sample)))
    assert reading.framework == UNATTRIBUTED
    assert reading.error_class is reading.source_topic is reading.consumer_group is None
    assert reading.original_headers == tuple(
        (name, None if value is None else base64.b64decode(value)) for name, value in sample["headers"]
    )
