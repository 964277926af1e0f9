"""The stream: lively at first, then gentle enough for a console that nobody looks after."""

from collections import Counter

from console.demo.disputes.producer import BETWEEN_EVENTS, World
from console.demo.disputes.stories import OPENING, QUIET, Sender


def hour(*, opening):
    world = World(Sender(seed=7), opening=opening)
    return [world.moment(number * BETWEEN_EVENTS) for number in range(int(3600 / BETWEEN_EVENTS))]


def test_an_empty_topic_begins_with_the_opening_stories_each_of_them_in_order():
    world = World(Sender(seed=7), opening=True)
    first = world.moment(0.0)
    assert [message.key.decode() for message in first[:-1]] == [account for _, account in OPENING]
    assert b'"amount_cents": "1200.00"' in first[0].value
    assert b"9007199254740993123" in first[0].value
    second = world.moment(BETWEEN_EVENTS)
    assert second[0].key == first[0].key
    assert second[0].value != first[0].value


def test_otherwise_it_begins_with_a_healthy_event():
    (only,) = World(Sender(seed=7), opening=False).moment(0.0)
    assert only.key.decode() in QUIET


def test_each_moment_has_a_healthy_event_and_an_hour_few_stories():
    moments = hour(opening=False)
    assert all(moment[-1].key.decode() in QUIET for moment in moments)
    troubled = Counter(message.key for moment in moments for message in moment[:-1])
    assert 3 <= len(troubled) <= 8
    assert sum(troubled.values()) < 40


def test_no_event_is_sent_twice():
    ids = [message.event_id for moment in hour(opening=True) for message in moment]
    assert len(ids) == len(set(ids))
