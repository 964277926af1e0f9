"""Amendments: an edited copy of the same event; the original and its identity stay."""

import pytest

from parking import headers
from parking.errors import Conflict, Refused
from parking.fingerprint import fingerprint
from parking.models import Amendment, EventPayload
from replay import amend
from replay.amend import against
from tests.registry import Silence
from tests.replay.line import ANNE, BORIS, KEY

NAMED = (("event-id", b"e1"),)


def write(line, value=b"good", *, headers=NAMED, seen_version=1, actor=ANNE, reason="typo", event_id="e1"):
    return amend.amend(
        event_state_id=line.event(event_id).pk,
        value=value,
        headers=headers,
        actor=actor,
        reason=reason,
        seen_version=seen_version,
    )


def test_the_copy_is_a_version_with_its_fingerprint_and_the_decision_amend(line):
    line.park("e1")
    made = write(line, b"good \x00\xff", headers=(*NAMED, ("a", None), ("a", b"")))
    assert made.version == 2
    assert bytes(made.fingerprint) == fingerprint(KEY, b"good \x00\xff", headers.unpack(made.headers))
    decision = line.event("e1").decision
    assert (decision.action, decision.amendment) == ("amend", made)
    assert EventPayload.objects.get(pk=made.event_state_id).value == b"bad e1"


def test_somebody_elses_newer_version_is_a_conflict_that_says_who_and_when(line):
    line.park("e1")
    write(line, b"first")
    with pytest.raises(Conflict, match=rf"{ANNE.name} wrote version 2 at .*Nothing of yours is lost"):
        write(line, b"second", actor=BORIS)
    assert write(line, b"second", actor=BORIS, seen_version=2).version == 3


@pytest.mark.parametrize("changed", [(("event-id", b"other"),), (), (("event-id", b"\xff"),)])
def test_headers_that_make_it_another_event_are_refused(line, changed):
    line.park("e1")
    with pytest.raises(Refused, match="another event"):
        write(line, headers=changed)


def test_a_cloud_event_keeps_its_source_and_id(line):
    named = (("ce_source", b"/shop"), ("ce_id", b"7"))
    line.deliver_raw(b"bad", named)
    line.park_all()
    with pytest.raises(Refused, match="another event"):
        write(line, headers=(("ce_source", b"/shop"), ("ce_id", b"8")), event_id="/shop#7")
    assert write(line, headers=named, event_id="/shop#7").version == 2


def test_an_event_without_an_id_of_its_own_cannot_be_given_one(line):
    line.deliver_raw(b"bad", ())
    line.park_all()
    event_id = line.flow.events.get().event.event_id
    with pytest.raises(Refused, match="another event"):
        write(line, headers=(("event-id", b"mine"),), event_id=event_id)
    assert write(line, headers=(), event_id=event_id).version == 2


def test_changing_nothing_is_refused(line):
    line.park("e1")
    with pytest.raises(Refused, match="Nothing is changed"):
        write(line, b"bad e1")


@pytest.mark.parametrize("name", ["\ud800", "a\0b", ""])
def test_a_header_name_that_kafka_cannot_carry_is_refused(line, name):
    line.park("e1")
    with pytest.raises(Refused, match="header name"):
        write(line, headers=(*NAMED, (name, b"x")))


def test_a_value_that_the_schema_does_not_allow_is_refused_with_the_place(make_line):
    schema = {"type": "object", "properties": {"cents": {"type": "integer", "minimum": 0}}, "required": ["cents"]}
    line = make_line(schema=schema)
    line.park("e1")
    with pytest.raises(Refused, match="/cents"):
        write(line, b'{"cents": -5}')
    with pytest.raises(Refused, match="schema"):
        write(line, b"{")
    assert write(line, b'{"cents": 5}').version == 2
    assert write(line, None, seen_version=2).version == 3


def test_violations_name_path_expected_actual_and_hint(make_line):
    line = make_line(schema={"type": "object", "properties": {"a": {"type": "integer"}}})
    (wrong,) = amend.violations(line.flow, b'{"a": "x"}')
    assert wrong["path"] == "/a"
    assert wrong["expected"] == "type: integer"
    assert wrong["actual"] == "x"
    assert wrong["hint"]


def test_two_that_save_at_once_make_two_versions_or_one_conflict_never_one_version_of_both(line, at_once):
    line.park("e1")
    outcomes = at_once(2, lambda number: write(line, b"by %d" % number))
    assert [type(one) for one in outcomes if isinstance(one, Exception)] == [Conflict]
    assert Amendment.objects.count() == 1


def test_a_schema_fetches_nothing():
    """Its owner could otherwise make this machine call its own neighbours."""
    with Silence() as neighbour:
        (wrong,) = against({"$ref": f"{neighbour.url}/schema.json"}, b"{}")
        assert neighbour.connections == 0
    assert wrong["expected"] == "a sound JSON Schema"
    assert against({"$ref": "money.json"}, b'"x"', {"money.json": {"type": "integer"}})


@pytest.mark.parametrize(
    ("value", "count"), [(b'\0\0\0\0\x07{"n":1}', 0), (b'\0\0\0\0\x07{"n":"1"}', 1), (b"\0\0\0\0\x05\x02a", 0)]
)
def test_json_behind_a_frame_is_checked_and_what_has_another_schema_is_not(value, count):
    assert len(against({"properties": {"n": {"type": "integer"}}}, value)) == count
