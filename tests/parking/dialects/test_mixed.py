"""Several families in one record: one dead letter was redriven with all its headers, and another consumer failed."""

import json
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import pytest

from parking.dialects import find, identify, topics
from parking.dialects.family import Family
from parking.record import Headers, from_json_line
from tests.parking.dialects.sets import IN_FRONT, OWN_TOPIC, PRODUCERS, number, record
from tests.parking.dialects.test_vectors import SAMPLES, _headers

USER: Headers = (("tag", b"a"), ("tag", b"b"), ("nul", None))
ONE_POSITION = ("spring-retryable-topic", "data-contract")
"""They keep the position of their first pass, or name no offset at all."""
REPLACE = ("bakdata", "silverback", "wolverine")
NO_CLASS = ("share-group", "data-contract")


def _failed(*producers, marks="abc"):
    """The record of an event that these gave up, one after the other: each names its own mark."""
    headers = USER
    for producer, mark in zip(producers, marks, strict=False):
        headers = PRODUCERS[producer](headers, mark)
    return record(headers, OWN_TOPIC.get(producers[-1], "orders-dlq"))


def _source(reading):
    return reading.source_topic, reading.source_partition, reading.source_offset


def _origin(reading):
    return reading.origin_topic, reading.origin_partition, reading.origin_offset


@pytest.mark.parametrize("producer", PRODUCERS)
def test_one_failure(producer):
    reading = identify(_failed(producer))
    offset = None if producer == "data-contract" else number("a")
    assert reading.framework == producer
    assert (reading.source_topic, reading.source_offset, reading.origin_topic) == ("a", offset, None)
    assert reading.error_class == (None if producer in NO_CLASS else "a.a")
    assert reading.original_headers == USER


@pytest.mark.parametrize(("older", "newer"), list(permutations(PRODUCERS, 2)))
def test_the_newest_family_tells_and_the_oldest_position_is_the_origin(older, newer):
    reading = identify(_failed(older, newer))
    assert reading.framework == newer
    assert reading.source_topic == "b"
    assert reading.error_class == (None if newer in NO_CLASS else "a.b")
    assert reading.error_message == ("a.b in Billing" if newer == "silverback" else "closed b")
    assert reading.original_headers == USER
    if older == "data-contract" or {older, newer} == {"kafka-streams", "bakdata"}:
        return
    assert _origin(reading) == ("a", 2, number("a"))


@pytest.mark.parametrize("producer", PRODUCERS)
def test_the_same_family_again(producer):
    reading = identify(_failed(producer, producer))
    assert reading.error_class == (None if producer in NO_CLASS else "a.b")
    if producer == "spring-retryable-topic":
        assert (_source(reading), _origin(reading)) == (("a", 2, number("a")), (None, None, None))
    elif producer == "data-contract":
        assert _source(reading) == ("b", None, None)
    else:
        assert _source(reading) == ("b", 2, number("b"))
        assert _origin(reading) == ((None, None, None) if producer in REPLACE else ("a", 2, number("a")))


THREE = [one for one in product(PRODUCERS, repeat=3) if one[0] == one[2] != one[1] and one[0] not in REPLACE]


@pytest.mark.parametrize("producers", THREE, ids=lambda one: "-".join(one[:2]))
def test_there_and_back(producers):
    """Its first failure, another family's, its own again."""
    reading = identify(_failed(*producers))
    newest, between = producers[2], producers[1]
    assert reading.framework == newest
    assert reading.error_class == (None if newest in NO_CLASS else "a.c")
    if newest == "spring-retryable-topic":
        assert _source(reading) == ("a", 2, number("a"))
    elif between not in IN_FRONT and newest != "data-contract":
        assert _source(reading) == ("c", 2, number("c"))


@pytest.mark.parametrize("newer", ["spring-kafka", "kafka-connect", "kafka-streams", "wolverine"])
@pytest.mark.parametrize("older", IN_FRONT)
def test_smallrye_is_not_newer_than_others_on_a_topic_that_is_not_its_own(older, newer):
    """It writes in front, so the order is the same either way (dlq formats, §1)."""
    headers = PRODUCERS[older](PRODUCERS[newer](USER, "a"), "b")
    assert identify(record(headers, "orders-dlt")).framework == newer
    assert identify(record(headers, OWN_TOPIC[older])).framework == older


@pytest.mark.parametrize("newer", [one for one in PRODUCERS if one not in IN_FRONT])
@pytest.mark.parametrize("older", IN_FRONT)
def test_headers_that_belong_in_front_take_nothing_from_who_stands_before_them(older, newer):
    """Some broker or proxy put them elsewhere: on a foreign topic they are the older failure all the same."""
    headers = (*PRODUCERS[newer](USER, "b"), *PRODUCERS[older]((), "a"))
    reading = identify(record(headers, "orders-dlq"))
    assert (reading.framework, reading.source_topic) == (newer, "b")
    assert reading.error_class == (None if newer in NO_CLASS else "a.b")


def test_the_dead_letter_topic_of_spring_s_behind_smallrye_s_is_spring_s():
    headers = PRODUCERS["spring-kafka"](PRODUCERS["smallrye"](USER, "a"), "b")
    assert identify(record(headers, "dead-letter-topic-orders-dlt")).framework == "spring-kafka"
    assert identify(record(headers, "dead-letter-topic-orders.DLT")).framework == "spring-kafka"


def test_nothing_is_borrowed_from_its_own_failure_before_another_family_s():
    between = PRODUCERS["kafka-connect"](PRODUCERS["data-contract"](USER, "a"), "b")
    again = tuple(header for header in PRODUCERS["data-contract"]((), "c") if header[0] != "__rule.exception")
    reading = identify(record((*between, *again)))
    assert (reading.framework, reading.source_topic, reading.error_message) == ("data-contract", "c", None)


# Headers under made-up names

MADE_UP = [
    ("x-original-topic", b"orders"),
    ("x-original-partition", b"7"),
    ("x-original-offset", b"184467"),
    ("x-error-message", b"ledger closed"),
]
BEHIND = [one for one in PRODUCERS if one not in IN_FRONT]


@pytest.mark.parametrize("newer", BEHIND)
def test_a_made_up_failure_in_front_is_the_older_one(newer):
    reading = identify(record(PRODUCERS[newer](tuple(MADE_UP), "b")))
    assert (reading.framework, reading.source_topic) == (newer, "b")
    assert _origin(reading) == ("orders", 7, 184467)


@pytest.mark.parametrize("older", BEHIND)
def test_a_made_up_failure_behind_is_the_newer_one(older):
    reading = identify(record([*PRODUCERS[older](USER, "a"), *MADE_UP]))
    assert (reading.framework, reading.error_message) == ("hand-rolled", "ledger closed")
    assert _source(reading) == ("orders", 7, 184467)
    assert reading.original_headers == USER
    if older != "data-contract":
        assert _origin(reading) == ("a", 2, number("a"))


def test_headers_that_a_producer_s_own_users_add_tell_of_the_same_failure():
    """Spring's `headersFunction` writes behind the set."""
    extras = [("x-source-topic", b"a"), ("source-offset", b"%d" % number("a")), ("error-message", b"short")]
    for more in (extras, extras[:1], [("x-error-message", b"short")], [("x-attempts", b"3")]):
        reading = identify(record([*PRODUCERS["spring-kafka"](USER, "a"), *more]))
        assert (reading.framework, reading.error_message) == ("spring-kafka", "closed a")


# Samples of real producers


def _one_of_each():
    """A sample of each family that tells by headers of its own, one on such a topic where the topic counts."""
    found: dict[Family, dict[str, Any]] = {}
    for sample in SAMPLES:
        told = find(from_json_line(json.dumps(sample)))
        if told is None or len(told.layout.families) != 1:
            continue
        if told.family.in_front and not topics.in_front(sample["topic"]):
            continue
        found.setdefault(told.family, sample)
    return list(found.values())


ONE_OF_EACH = _one_of_each()
NOT_TOGETHER = {("hexkit", "sentry-arroyo"), ("hexkit", "arroyo")}
"""The headers of the one are among those of the other."""


@pytest.mark.parametrize("newer", ONE_OF_EACH, ids=lambda sample: sample["id"])
def test_a_sample_that_went_through_each_other_family_before_reads_as_ever(newer):
    record = from_json_line(json.dumps(newer))
    names = {name for name, _ in record.headers}
    found = find(record)
    assert found
    for older in ONE_OF_EACH:
        if older is newer or (older["framework"], newer["framework"]) in NOT_TOGETHER:
            continue
        before = tuple(header for header in _headers(older) if header[0] not in names)
        headers = record.headers + before if found.family.in_front else before + record.headers
        shown = identify(replace(record, headers=headers)).shown()
        for field, expected in newer["expect"].items():
            if not field.startswith("origin_") and field != "stacktrace_contains":
                assert shown[field] == expected, (older["id"], field)


# The group that both of Spring's write


def test_a_group_before_the_newest_topic_is_an_older_failure_s():
    reading = identify(_failed("spring-kafka", "spring-retryable-topic"))
    assert (reading.consumer_group, reading.attempts) == (None, 2)


def test_a_group_behind_the_newest_topic_is_its_own():
    assert identify(_failed("spring-retryable-topic", "spring-kafka")).consumer_group == "group-b"
    assert identify(_failed("spring-retryable-topic")).consumer_group == "group-a"


def test_a_group_of_the_other_family_in_between_is_not_taken():
    producers = ("spring-retryable-topic", "spring-kafka", "spring-retryable-topic")
    assert identify(_failed(*producers)).consumer_group == "group-a"


def test_a_delivery_attempt_of_the_older_failure_does_not_count():
    older = (("kafka_deliveryAttempt", b"\0\0\0\7"), *PRODUCERS["spring-kafka"](USER, "a"))
    assert identify(record(older)).attempts == 7
    assert identify(record(PRODUCERS["spring-kafka"](older, "b"))).attempts is None
    assert identify(record(PRODUCERS["kafka-connect"](older, "b"))).attempts is None
    again = (*older, ("kafka_deliveryAttempt", b"\0\0\0\2"))
    assert identify(record(PRODUCERS["spring-kafka"](again, "b"))).attempts == 2
