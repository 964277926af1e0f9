"""Bytes and order on the replay topic: each event once, as approved, in the order of the ledger, in one partition."""

from datetime import timedelta

import pytest

from parking import wire
from parking.models import Cluster
from parking.partitioner import partition
from replay import plan
from tests.replay.line import KEY, PARTITIONS, tick


def applied(line):
    """Event id and value of every `apply` in the replay topic."""
    commands = [wire.command.decode(record) for record in line.replayed]
    return [(one.event_id, one.value) for one in commands if one.action == "apply"]


def test_a_tombstone_and_a_create_are_both_replayed_tombstone_first(line):
    """ORD-07: nothing is collapsed to the last write."""
    line.park("e1")
    line.deliver("gone", None)
    line.deliver("back", b"good again")
    line.park_all()
    line.decide("e1", "skip")
    assert line.play(line.approved()).state == "completed"
    assert line.effects() == [("gone", None), ("back", b"good again")]


def test_only_the_edited_bytes_are_sent_and_only_once(line):
    """REP-13."""
    line.park("e1", "e2")
    line.amend("e1", b"good edited")
    assert line.play(line.approved()).state == "completed"
    assert applied(line) == [("e1", b"good edited"), ("e2", b"good e2")]
    assert line.effects() == [("e1", b"good edited"), ("e2", b"good e2")]


def test_key_value_and_headers_arrive_exactly_as_they_were(line):
    headers = (("event-id", b"e2"), ("a", b"1"), ("a", None), ("siding-version", b"9"), ("b", b"\xff\x00"))
    line.park("e1")
    line.deliver_raw(b"good \x00\xff\xfe", headers)
    line.park_all()
    line.decide("e1", "skip")
    assert line.play(line.approved()).state == "completed"
    sent = next(record for record in line.replayed if record.last("siding-action") == b"apply")
    assert (sent.key, sent.value, sent.headers[: len(headers)]) == (KEY, b"good \x00\xff\xfe", headers)
    assert line.effects() == [("e2", b"good \x00\xff\xfe")]


def test_an_empty_key_keeps_its_order_in_one_partition_and_is_released(line):
    """REP-02: empty is a key like any other."""
    for number in range(6):
        line.deliver(f"e{number}", b"good" if number else b"bad", key=b"")
    line.park_all()
    assert bytes(line.quarantine().hold_key.key) == b""
    line.decide("e0", "skip")
    replay = line.play(line.approved())
    assert replay.state == "completed", replay.stop_reason
    assert {(record.key, record.partition) for record in line.replayed} == {(b"", partition(b"", PARTITIONS))}
    assert [event for event, _ in line.effects()] == ["e1", "e2", "e3", "e4", "e5"]
    assert line.quarantine().state == "released"


def test_a_null_key_stays_null_and_each_such_event_is_a_key_of_its_own(line):
    line.deliver("e1", b"bad", key=None)
    line.park_all()
    line.amend("e1", b"good")
    assert line.play(line.approved()).state == "completed"
    command = wire.command.decode(line.replayed[0])
    assert (command.hold_key, command.key) == (b"e1", None)


def test_where_the_hold_key_is_not_the_record_key_both_travel(make_line):
    line = make_line(key_rule="json:account")
    for number, key in enumerate((b'{"account": "a", "n": 1}', b'{"account": "a", "n": 2}')):
        line.deliver(f"e{number}", b"good" if number else b"bad", key=key)
    line.park_all()
    line.decide("e0", "skip")
    assert line.play(line.approved()).state == "completed"
    commands = [wire.command.decode(record) for record in line.replayed]
    assert [(one.hold_key, one.key) for one in commands[:2]] == [
        (b"a", b'{"account": "a", "n": 1}'),
        (b"a", b'{"account": "a", "n": 2}'),
    ]


@pytest.mark.slow
def test_500_events_through_a_tiny_queue_arrive_once_and_in_order(make_line):
    """REP-10: `BufferError: Local: Queue full` drops nothing and skips nothing."""
    line = make_line(window=200, pace_per_second=100_000)
    Cluster.objects.update(settings={"queue.buffering.max.messages": 10})
    line.park(*(f"e{number}" for number in range(500)))
    line.decide("e0", "skip")
    replay = line.play(line.approved())
    assert replay.state == "completed", replay.stop_reason
    assert [event for event, _ in line.effects()] == [f"e{number}" for number in range(1, 500)]
    assert len(applied(line)) == 499


def test_no_more_than_the_window_is_under_way_and_no_more_than_the_pace_in_a_second(make_line):
    line = make_line(window=3, pace_per_second=100)
    line.park(*(f"e{number}" for number in range(8)))
    line.decide("e0", "skip")
    replay = tick(line.approved())
    assert [state for _, state in line.steps(replay)].count("in_flight") == 3
    slow = make_line(window=50, pace_per_second=2)
    slow.park(*(f"e{number}" for number in range(8)))
    slow.decide("e0", "skip")
    replay = tick(slow.approved())
    sent = [step.sent_at for step in replay.steps.order_by("ordinal") if step.sent_at]
    assert len(sent) >= 2, "more of them where the machine is so busy that a second passes meanwhile"
    assert all(third - first >= timedelta(seconds=0.95) for first, third in zip(sent, sent[2:], strict=False))


def test_a_later_event_is_not_sent_after_one_failed(make_line):
    """ORD-02."""
    line = make_line(window=2)
    line.park("e1", "e2", "e3", "e4", "e5", bad=2)
    line.decide("e1", "skip")
    replay = line.play(line.approved())
    assert (replay.state, replay.stopped_at_step) == ("stopped", 2)
    assert "e2" in replay.stop_reason
    assert "failed: InvalidValue" in replay.stop_reason
    assert line.effects() == []
    assert [state for _, state in line.steps(replay)][3:] == ["pending", "pending"]
    assert {one.event_id for one in map(wire.command.decode, line.replayed)} <= {"e1", "e2", "e3"}


def test_two_flows_with_the_same_key_do_not_touch_each_other(make_line):
    """ING-22."""
    one, other = make_line(), make_line()
    for line in (one, other):
        line.park("e1", "e2")
        line.decide("e1", "skip")
    assert one.play(one.approved()).state == "completed"
    assert other.effects() == []
    assert other.quarantine().state == "open"
    assert len(plan.build(other.quarantine()).steps) == 2


@pytest.mark.parametrize("secret", [b"correct horse"])
def test_a_flow_with_a_secret_signs_every_record(line, settings, secret):
    settings.FLOW_SECRETS = {line.flow.name: secret}
    line.park("e1", "e2")
    line.decide("e1", "skip")
    assert line.play(line.approved()).state == "completed"
    assert len(line.replayed) == 3
    assert all(wire.verify(secret, record) for record in line.replayed)
