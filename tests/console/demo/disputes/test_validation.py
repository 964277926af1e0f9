"""What the sample service says is wrong with an event or a decision."""

import pytest

from console.demo.disputes.events import MEMBERS
from console.demo.disputes.stories import Sender
from console.demo.disputes.validation import decision_faults, event_faults

DECISION = {"verdict": "refund", "amount_cents": 120000, "reason": "fraud"}


@pytest.mark.parametrize("event_type", MEMBERS)
def test_a_right_event_has_no_faults(event_type):
    event = Sender(seed=1).members(event_type, "acc-20417")
    assert event_faults(event_type, event) == []


@pytest.mark.parametrize(
    ("member", "wrong", "expected", "actual"),
    [
        ("dispute_id", 7731, "text like dsp-7731", "7731"),
        ("evidence", "fax", "receipt, delivery_note, letter", '"fax"'),
        ("evidence", None, "receipt, delivery_note, letter", "null"),
        ("account", "20417", "text like acc-20417", '"20417"'),
        ("ledger_seq", True, "integer", "true"),
        ("ledger_seq", 1.5, "integer", "1.5"),
        ("ledger_seq", {"deep": [1]}, "integer", '{"deep": [1]}'),
    ],
)
def test_a_fault_says_where_what_was_expected_what_arrived_and_what_to_do(member, wrong, expected, actual):
    event = {**Sender(seed=1).members("EvidenceAdded", "acc-20417"), member: wrong}
    (fault,) = event_faults("EvidenceAdded", event)
    assert (fault.path, fault.expected, fault.actual) == (f"/{member}", expected, actual)
    assert fault.hint


def test_what_is_missing_is_a_fault_and_a_huge_value_is_shortened():
    (missing,) = event_faults("AccountClosed", {"account": "acc-1"})
    assert (missing.path, missing.actual) == ("/ledger_seq", "null")
    (huge,) = event_faults("AccountClosed", {"account": "x" * 5000, "ledger_seq": 1})
    assert len(huge.actual) == 200


@pytest.mark.parametrize("event", [None, [], "text", 7])
def test_what_is_no_object_is_one_fault(event):
    assert [fault.expected for fault in event_faults("LimitChanged", event)] == ["a JSON object"]


def test_an_unknown_type_is_one_fault():
    assert [fault.actual for fault in event_faults("Gossip", {})] == ['"Gossip"']


def test_the_event_leaves_amount_and_reason_to_the_decision():
    event = {**Sender(seed=1).members("ChargeDisputed", "acc-20417"), "amount_cents": "1200.00", "reason": "other"}
    assert event_faults("ChargeDisputed", event) == []
    faults = decision_faults({**DECISION, "amount_cents": "1200.00", "reason": "other"})
    assert [(fault.path, fault.actual) for fault in faults] == [("/amount_cents", '"1200.00"'), ("/reason", '"other"')]


def test_a_right_decision_has_no_faults():
    assert decision_faults(DECISION) == []


@pytest.mark.parametrize(
    ("member", "wrong"), [("verdict", "perhaps"), ("amount_cents", 0), ("amount_cents", 1.5), ("reason", [])]
)
def test_a_decision_is_not_trusted(member, wrong):
    assert [fault.path for fault in decision_faults({**DECISION, member: wrong})] == [f"/{member}"]
