"""Every sample record is read right, or not at all."""

import base64
import json
from pathlib import Path

import pytest

from parking import dialects
from parking.dialects import UNATTRIBUTED, identify
from parking.record import from_json_line

VECTORS = Path(__file__).parents[4] / "shared" / "vectors"
RETRYABLE_TOPIC = ("kafka_original-", "kafka_exception-", "retry_topic-")
READ = ("spring-kafka", "spring-kafka-retrytopic", "spring-cloud-stream", "kafka-connect")
SAY_NOTHING = ("connect-no-context-headers", "karafka-oss", "kstreamplify-1")
"""Nothing but the topic's name tells of them; the last has its story in Avro, for which its schema would be needed."""


def _samples():
    if not VECTORS.exists():
        return []
    captured = (VECTORS / "captured.jsonl").read_text().splitlines()
    return json.loads((VECTORS / "dlq_vectors.json").read_text()) + [json.loads(line) for line in captured]


SAMPLES = _samples()


def _framework(sample):
    """What we call the family of a sample."""
    if sample["id"] in SAY_NOTHING:
        return "unnamed"
    if sample["framework"].startswith("spring-kafka"):
        retryable = any(name.startswith(RETRYABLE_TOPIC) for name, _ in sample["headers"])
        return "spring-retryable-topic" if retryable else "spring-kafka"
    return sample["framework"]


def _is_read(sample):
    return sample["framework"] in READ


def _headers(sample):
    return tuple((name, None if value is None else base64.b64decode(value)) for name, value in sample["headers"])


def _id(sample):
    return sample["id"]


@pytest.mark.skipif(not SAMPLES, reason="the sample records are not beside this checkout (../shared/vectors)")
def test_there_are_samples():
    assert sum(map(_is_read, SAMPLES)) > 70


@pytest.mark.parametrize("sample", [s for s in SAMPLES if _is_read(s)], ids=_id)
def test_spring_and_connect(sample):
    reading = identify(from_json_line(json.dumps(sample)))
    shown = reading.shown()
    expected = dict(sample["expect"])
    part = expected.pop("stacktrace_contains")
    assert part is None or part in shown["stacktrace"]
    assert {name: shown[name] for name in expected} == expected
    assert shown["framework"] == _framework(sample)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if _is_read(s)], ids=_id)
def test_a_replay_sends_what_the_consumer_had_been_given(sample):
    """The failure's own headers are gone, all others are there in their order, nulls and repeats included."""
    reading = identify(from_json_line(json.dumps(sample)))
    module = next(module for module in dialects.DIALECTS if reading.framework == module.FRAMEWORK)
    kept = tuple(header for header in _headers(sample) if not module.failure_header(header[0]))
    assert reading.original_headers == kept


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s["id"] in SAY_NOTHING], ids=_id)
def test_a_record_that_says_nothing_is_a_dead_letter_by_its_topic_alone(sample):
    shown = identify(from_json_line(json.dumps(sample))).shown()
    known = {name for name, value in shown.items() if value not in (None, [], False, "")}
    assert known == {"framework", "kind", "event_id"}
    assert shown["kind"] == "dead_letter"


@pytest.mark.parametrize("sample", [s for s in SAMPLES if not _is_read(s) and s["id"] not in SAY_NOTHING], ids=_id)
def test_other_families_are_not_guessed(sample):
    reading = identify(from_json_line(json.dumps(sample)))
    assert reading.framework == UNATTRIBUTED
    assert reading.error_class is reading.source_topic is reading.consumer_group is None
    assert reading.original_headers == _headers(sample)
