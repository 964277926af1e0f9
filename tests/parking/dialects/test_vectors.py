"""Every sample record is read right, or not at all."""

import base64
import json
from pathlib import Path

import pytest

from parking.dialects import find, identify
from parking.record import from_json_line

VECTORS = Path(__file__).parents[4] / "shared" / "vectors"
RETRYABLE_TOPIC = ("kafka_original-", "kafka_exception-", "retry_topic-")
SAY_NOTHING = ("connect-no-context-headers", "karafka-oss", "camel-plain")
"""Nothing but the topic's name tells of them."""


def _samples():
    if not VECTORS.exists():
        return []
    captured = (VECTORS / "captured.jsonl").read_text().splitlines()
    return json.loads((VECTORS / "dlq_vectors.json").read_text()) + [json.loads(line) for line in captured]


SAMPLES = _samples()


def _headers(sample):
    return tuple((name, None if value is None else base64.b64decode(value)) for name, value in sample["headers"])


def _id(sample):
    return sample["id"]


@pytest.mark.skipif(not SAMPLES, reason="the sample records are not beside this checkout (../shared/vectors)")
def test_there_are_samples():
    assert len(SAMPLES) > 150


@pytest.mark.parametrize("sample", SAMPLES, ids=_id)
def test_every_sample_is_read_right(sample):
    reading = identify(from_json_line(json.dumps(sample)))
    shown = reading.shown()
    expected = dict(sample["expect"])
    part = expected.pop("stacktrace_contains")
    assert part is None or part in shown["stacktrace"]
    assert {name: shown[name] for name in expected} == expected


@pytest.mark.parametrize("sample", SAMPLES, ids=_id)
def test_a_replay_sends_what_the_consumer_had_been_given(sample):
    """The failures' own headers are gone, all others are there in their order, nulls and repeats included."""
    record = from_json_line(json.dumps(sample))
    found = find(record)
    if found and found.family.asks and not found.layout.families:
        pytest.skip("told by its value: the tests of that family say what is sent")
    families = found.layout.families if found else ()
    kept = tuple(header for header in _headers(sample) if not any(family.adds(header[0]) for family in families))
    reading = identify(record)
    if reading.original_value is not None and kept[-1:] == (("__TypeId__", b"[B"),):
        kept = kept[:-1]  # of the base64 text that Spring's template made, not of the event
    assert reading.original_headers == kept


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s["id"] in SAY_NOTHING], ids=_id)
def test_a_record_that_says_nothing_is_a_dead_letter_by_its_topic_alone(sample):
    shown = identify(from_json_line(json.dumps(sample))).shown()
    known = {name for name, value in shown.items() if value not in (None, [], False, "")}
    assert known == {"framework", "kind", "event_id"}
    assert shown["kind"] == "dead_letter"
