"""Which partition of a plain topic the events of a key go to."""

import base64
import json
from pathlib import Path

import pytest

from parking.partitioner import partition
from replay.targets.placement import place

CASES = Path(__file__).parents[3] / "shared" / "cases" / "cases.json"


def _vectors():
    if not CASES.exists():
        return []
    cases = json.loads(CASES.read_text())
    listed = cases if isinstance(cases, list) else cases["cases"]
    return next(case for case in listed if case["id"] == "REP-01")["input"]["vectors"]


@pytest.mark.parametrize("vector", _vectors(), ids=lambda vector: f"{vector['key']}-of-{vector['partitions']}")
def test_where_a_java_producer_sends_the_key_never_where_librdkafka_would(vector):
    """Case REP-01."""
    placed = place({None}, base64.b64decode(vector["key_b64"]), vector["partitions"])
    assert placed.partition == vector["java_murmur2"]


def test_the_partition_of_the_source_where_it_exists():
    key = b"order-1001"
    placed = place({partition(key, 6)}, key, 6)
    assert (placed.partition, placed.note) == (partition(key, 6), "")
    assert place({4}, key, 6).partition == 4


def test_a_partition_that_is_gone_is_the_key_s_and_a_note():
    """Case REP-03."""
    placed = place({7}, b"order-1001", 3)
    assert placed.partition == partition(b"order-1001", 3)
    assert "Partition 7, which these events came from, is gone (the topic has 3)" in placed.note


def test_a_topic_that_grew_keeps_the_old_partition_and_says_where_newer_events_are():
    """Case REP-04."""
    key = b"order-1001"
    old, now = 0, partition(key, 12)
    assert (partition(key, 6), now) == (old, 6)
    placed = place({old}, key, 12)
    assert placed.partition == old
    assert f"now send their key to partition {now}" in placed.note


def test_events_of_two_partitions_go_to_one():
    """Case REP-04: all of the key go to one partition, in order."""
    placed = place({0, 1}, b"order-1001", 6)
    assert placed.partition == partition(b"order-1001", 6)
    assert "several partitions" in placed.note
