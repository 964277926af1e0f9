"""What an outcome means for a step: facts count whoever caused them, everything else only under our token."""

import pytest

from replay.verdict import Answer, infer, judge

PRINT, OTHER = b"p" * 32, b"o" * 32
TOKEN = 1000


def verdict(action: str, outcome: str, *, token=TOKEN, fate=TOKEN, fingerprint=PRINT, detail=""):
    answer = Answer(7, outcome, token, fate, fingerprint, detail)
    found = judge(action=action, fingerprint=PRINT, token=TOKEN, answer=answer)
    return found and found.state


@pytest.mark.parametrize(("action", "fact"), [("apply", "applied"), ("amend", "applied"), ("skip", "skipped")])
def test_a_fact_as_planned_under_our_token_is_the_plain_state(action, fact):
    assert verdict(action, fact) == fact


@pytest.mark.parametrize("fate", [0, TOKEN - 1, TOKEN + 1, None])
@pytest.mark.parametrize(("action", "fact"), [("apply", "applied"), ("skip", "skipped")])
def test_the_same_content_by_another_token_is_a_duplicate(action, fact, fate):
    assert verdict(action, fact, fate=fate) == "duplicate"


@pytest.mark.parametrize("fate", [0, TOKEN - 1, TOKEN])
def test_other_content_is_a_conflict_whoever_caused_it(fate):
    assert verdict("apply", "applied", fate=fate, fingerprint=OTHER) == "conflict"
    assert verdict("skip", "skipped", fate=fate, fingerprint=OTHER) == "conflict"
    assert verdict("apply", "applied", fate=fate, fingerprint=None) == "conflict"


def test_another_decision_is_a_conflict():
    assert verdict("apply", "skipped") == "conflict"
    assert verdict("skip", "applied", fate=0) == "conflict"


@pytest.mark.parametrize("outcome", ["not-held", "out-of-order", "refused", "failed"])
def test_what_the_consumer_did_not_do_is_failed_with_its_word(outcome):
    found = judge(action="apply", fingerprint=PRINT, token=TOKEN, answer=Answer(7, outcome, TOKEN, None, None, "why"))
    assert found is not None
    assert (found.state, found.reason) == ("failed", f"{outcome}: why")


@pytest.mark.parametrize("outcome", ["failed", "fenced", "not-held", "out-of-order", "refused"])
@pytest.mark.parametrize("token", [TOKEN - 1, TOKEN + 1, None])
def test_an_answer_to_another_token_is_not_about_this_step(outcome, token):
    assert verdict("apply", outcome, token=token) is None


def test_fenced_is_a_state_of_its_own_and_held_says_nothing():
    assert verdict("apply", "fenced") == "fenced"
    assert verdict("apply", "held") is None


# Without a gate


def inferred(**seen):
    found = infer(
        **(
            {"action": "apply", "parked_again": None, "ends": {"p/0": 5, "p/1": 3}, "read_to": {"p/0": 5, "p/1": 3}}
            | seen
        )
    )
    return None if found is None else found.state


def test_committed_past_and_all_read_and_not_parked_again_is_believed_applied():
    assert inferred() == "applied"


@pytest.mark.parametrize(
    "seen", [{"ends": None}, {"read_to": {"p/0": 5, "p/1": 2}}, {"read_to": {"p/0": 9}}, {"read_to": {}}]
)
def test_nothing_is_believed_before_everything_is_seen(seen):
    assert inferred(**seen) is None


@pytest.mark.parametrize("seen", [{}, {"ends": None}, {"read_to": {}}])
def test_parked_again_is_a_failure_whatever_was_committed(seen):
    assert inferred(parked_again="a.B", **seen) == "failed"


def test_what_is_skipped_is_not_sent_and_needs_no_sign():
    assert inferred(action="skip", ends=None) == "skipped"


def test_an_empty_parking_topic_has_nothing_to_be_read():
    assert inferred(ends={"p/0": 0, "p/1": 0}, read_to={}) == "applied"
