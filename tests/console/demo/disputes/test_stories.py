"""What the outside world sends."""

import json

import pytest

from console.demo.disputes.stories import FIRST_SEQUENCE, OPENING, QUIET, STORIES, TROUBLED, Sender
from console.demo.disputes.validation import event_faults

ALL = (*STORIES, OPENING[-1][0])


def test_the_same_seed_gives_the_same_messages():
    assert [Sender(seed=7).healthy("acc-1") for _ in range(3)] == [Sender(seed=7).healthy("acc-1") for _ in range(3)]


def test_healthy_events_are_right_and_keep_big_numbers_digit_for_digit():
    sender = Sender(seed=7)
    for _ in range(50):
        message = sender.healthy("acc-20500")
        event = json.loads(message.value)
        assert event_faults(message.event_type, event) == []
        assert event["ledger_seq"] >= FIRST_SEQUENCE
    assert b"9007199254740993123" in Sender(seed=7).healthy("acc-20500").value


def test_every_message_has_its_own_event_id_and_headers_that_are_hard_to_keep():
    sender = Sender(seed=7)
    messages = [sender.healthy("acc-20500") for _ in range(50)]
    assert len({message.event_id for message in messages}) == 50
    names = [name for name, _ in messages[0].headers]
    assert names.count("tag") == 2
    assert ("note", None) in messages[0].headers


@pytest.mark.parametrize("story", ALL)
def test_a_story_stays_with_one_account_and_begins_with_trouble(story):
    messages = list(story(Sender(seed=7), "acc-20417"))
    assert {message.key for message in messages} == {b"acc-20417"}
    assert len(messages) >= 2


def test_accounts_in_trouble_are_not_among_the_quiet_ones():
    assert not set(QUIET) & {*TROUBLED, *(account for _, account in OPENING)}
