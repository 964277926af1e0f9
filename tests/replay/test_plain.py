"""A replay to a plain topic whose consumer has no gate: order, one at a time, what is believed and what is not."""

from contextlib import ExitStack
from datetime import timedelta
from itertools import pairwise

import pytest
from confluent_kafka.admin import AdminClient
from django.utils import timezone

from parking.dialects.identity import CARRIED
from parking.errors import Refused
from parking.models import Attempt, Cluster, Flow, Incident, JournalEntry, PendingRetry
from replay import cancel, outside, plan, recover, run, targets
from replay.models import Replay, Step
from tests.replay.line import ANNE, KEY, again
from tests.replay.plain_line import plain_line

pytestmark = [pytest.mark.kafka]


@pytest.fixture
def make_line(transactional_db, kafka, make_topic):
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(plain_line(kafka, make_topic, **changes))


@pytest.fixture
def line(make_line):
    return make_line()


def heal(line):
    """From now on the consumer applies what it failed before."""
    line.service.fails = ()


def values(records):
    return [record.value for record in records]


def test_the_events_of_a_key_are_applied_in_order_and_the_key_is_released(line):
    line.park(b"bad 1", b"bad 2", b"bad 3", headers=(("tag", b"a"), ("nul", None), ("tag", b"b")))
    line.decide("apply", "apply", "apply")
    heal(line)
    replay = line.play(line.approved())
    assert (replay.state, replay.stop_reason) == ("completed", "")
    assert values(line.service.applied) == [b"bad 1", b"bad 2", b"bad 3"]
    assert {(record.key, record.partition) for record in line.service.applied} == {(KEY, 1)}
    assert line.states() == ["applied"] * 3
    assert line.quarantine().state == "released"


def test_the_consumer_is_given_what_it_had_been_given_and_what_will_name_the_event(line):
    headers = (("tag", b"a"), ("nul", None), ("tag", b""))
    line.park(b"bad 1", headers=headers)
    line.decide("apply")
    heal(line)
    replay = line.play(line.approved())
    (sent,) = line.service.applied
    (event,) = line.events()
    source_ms = int(event.event.event_id.rpartition("@")[2])
    own = [event.event.event_id.encode(), b"%d" % replay.pk, b"%d" % replay.token, b"%d" % source_ms]
    assert sent.headers[:3] == headers
    assert sent.headers[3:] == tuple(zip(CARRIED, own, strict=True))
    assert sent.timestamp_ms > event.event.source_at.timestamp() * 1000


def test_the_next_event_goes_only_when_the_outcome_of_the_one_before_is_known(line):
    line.park(b"bad 1", b"bad 2")
    line.decide("apply", "apply")
    heal(line)
    replay = line.tick(line.approved())
    assert line.steps(replay) == ["in_flight", "pending"]  # the broker took it: that is not applied
    assert values(line.service.serve()) == [b"bad 1"]
    replay = line.play(replay, until=lambda now: line.steps(now)[0] == "applied")
    assert line.states()[0] == "applied"


def test_committed_is_not_applied_while_intake_has_not_read_what_was_parked_meanwhile(line):
    """The failure is in the parking topic, nobody has read it yet, and the group has committed past the record."""
    line.park(b"bad 1", b"bad 2")
    line.decide("apply", "apply")
    replay = line.tick(line.approved())
    line.service.serve()
    replay = line.tick(replay)
    step = replay.steps.first()
    assert (step.state, "parking_ends" in step.evidence) == ("in_flight", True)
    line.read_until(lambda: Attempt.objects.filter(token=replay.token).exists())
    replay = line.tick(replay)
    assert line.steps(replay) == ["failed", "pending"]


def test_a_replayed_event_that_fails_again_joins_its_history_and_stops_the_replay(line):
    """Case ING-24."""
    line.park(b"bad 1", b"bad 2")
    line.decide("apply", "apply")
    replay = line.play(line.approved())
    assert (replay.state, replay.stopped_at_step) == ("stopped", 1)
    assert line.steps(replay) == ["failed", "pending"]
    assert replay.steps.first().reason == "parked again: com.example.billing.InvalidAmountException"
    assert len(line.events()) == 2
    first = line.events()[0]
    assert [(a.token, a.number) for a in first.attempts.all()] == [(0, 1), (replay.token, 2)]
    assert (line.quarantine().state, line.quarantine().poison) == ("open", 2)
    assert values(line.service.seen) == [b"bad 1", b"bad 2", b"bad 1"]  # the second was never sent


def test_after_a_failure_the_next_replay_goes_through(line):
    line.park(b"bad 1", b"bad 2")
    line.decide("apply", "apply")
    line.play(line.approved())
    heal(line)
    replay = line.play(line.approved())
    assert replay.state == "completed"
    assert values(line.service.applied) == [b"bad 1", b"bad 2"]
    sent = line.service.applied[0].headers
    assert tuple(name for name, _ in sent) == CARRIED


def test_a_skipped_event_is_never_sent(line):
    line.park(b"bad 1", b"bad 2")
    line.decide("skip", "apply")
    heal(line)
    replay = line.play(line.approved())
    assert (replay.state, line.steps(replay)) == ("completed", ["skipped", "applied"])
    assert line.states() == ["skipped", "applied"]
    assert values(line.service.applied) == [b"bad 2"]


def test_the_journal_says_why_it_is_believed(line):
    line.park(b"bad 1")
    line.decide("apply")
    heal(line)
    replay = line.play(line.approved())
    entry = JournalEntry.objects.get(verb="infer")
    evidence = entry.detail["evidence"]
    (sent,) = line.service.applied
    assert evidence["sent"] == f"{sent.topic}/{sent.partition}/{sent.offset}"
    assert evidence["committed"] == sent.offset + 1
    assert list(evidence["parking_ends"].values()) == [0, 1, 0]
    assert line.flow.parking_topic + "/1" in evidence["parking_ends"]
    assert (entry.replay_id, entry.actor_name, evidence["token"]) == (replay.pk, "worker", replay.token)
    assert JournalEntry.objects.filter(verb="released").count() == 1


def test_without_a_commit_nobody_knows(line):
    line.park(b"bad 1", b"bad 2")
    line.decide("apply", "apply")
    replay = line.tick(line.approved())
    Step.objects.filter(replay=replay, state="in_flight").update(sent_at=replay.started_at - timedelta(minutes=5))
    replay = line.tick(replay)
    assert (replay.state, line.steps(replay)) == ("stopped", ["unconfirmed", "pending"])
    assert line.states() == ["parked", "parked"]
    assert line.quarantine().state == "open"


def test_evidence_that_comes_later_settles_it(line, monkeypatch):
    line.park(b"bad 1")
    line.decide("apply")
    replay = line.tick(line.approved())
    Step.objects.filter(replay=replay, state="in_flight").update(sent_at=replay.started_at - timedelta(minutes=5))
    replay = line.tick(replay)
    heal(line)
    line.service.serve()
    monkeypatch.setattr(outside, "LATE_EVERY", 0.0)
    line.read_until(lambda: recover.settle_late() == 1)
    assert line.steps(replay) == ["applied"]
    assert line.states() == ["applied"]
    assert line.quarantine().state == "released"


@pytest.mark.slow
def test_what_late_evidence_has_settled_is_not_sent_by_the_next_replay(line, monkeypatch):
    line.park(b"bad 1", b"bad 2")
    line.decide("apply", "apply")
    replay = line.tick(line.approved())
    Step.objects.filter(replay=replay, state="in_flight").update(sent_at=replay.started_at - timedelta(minutes=5))
    line.tick(replay)
    following = line.approved()
    heal(line)
    line.service.serve()
    monkeypatch.setattr(outside, "LATE_EVERY", 0.0)
    line.read_until(lambda: recover.settle_late() == 1)
    following = line.play(following)
    assert (following.state, line.steps(following)) == ("completed", ["duplicate", "applied"])
    assert values(line.service.applied) == [b"bad 1", b"bad 2"]


def test_a_step_without_an_acknowledgement_is_not_sent_again(line):
    """It may be in the topic: its consumer would apply it twice. A worker was killed between record and send."""
    line.park(b"bad 1")
    line.decide("apply")
    replay = line.tick(line.approved())
    Step.objects.filter(replay=replay).update(acked_at=None, sent_offset=None)
    replay = line.tick(replay)
    assert line.steps(replay) == ["in_flight"]
    Step.objects.filter(replay=replay).update(sent_at=replay.started_at - timedelta(minutes=5))
    assert line.tick(replay).state == "stopped"
    assert values(line.service.serve()) == [b"bad 1"]


@pytest.mark.slow
def test_the_marks_of_transactions_are_no_records_that_intake_has_not_read(line, kafka, monkeypatch):
    """Behind the last record of a transaction stands its mark: the log's end is further than anybody can read."""
    monkeypatch.setattr(outside, "PATIENCE", timedelta(seconds=0.5))
    line.service.park_in_transactions(kafka)
    line.park(b"bad 1")
    line.decide("apply")
    heal(line)
    assert line.play(line.approved()).state == "completed"
    assert line.states() == ["applied"]


def test_what_intake_has_not_read_is_not_taken_for_a_mark(line, monkeypatch):
    monkeypatch.setattr(outside, "PATIENCE", timedelta(0))
    line.park(b"bad 1")
    line.decide("apply")
    replay = line.tick(line.approved())
    line.service.serve()
    replay = line.tick(replay)
    assert line.steps(replay) == ["in_flight"]
    assert list(line.tick(replay).steps.get().evidence["parking_ends"].values()) == [0, 2, 0]


@pytest.mark.slow
def test_a_flow_may_say_how_late_a_failure_may_be_parked(make_line):
    """Retry topics: the group commits long before the dead letter is written."""
    line = make_line(settle_after_seconds=3600)
    line.park(b"bad 1")
    line.decide("apply")
    line.service.late = True
    replay = line.tick(line.approved())
    line.service.serve()
    replay = line.tick(replay)
    step = replay.steps.get()
    assert step.state == "in_flight"
    assert "passed" in step.evidence
    assert "parking_ends" not in step.evidence
    line.service.parks_late.pop()()
    replay = line.play(replay)
    assert line.steps(replay) == ["failed"]


def test_an_event_that_is_parked_later_than_that_comes_back(line):
    line.park(b"bad 1", b"bad 2")
    line.decide("apply", "skip")
    line.service.late = True
    replay = line.play(line.approved())
    assert (replay.state, line.states()) == ("completed", ["applied", "skipped"])
    line.service.parks_late.pop()()
    line.read_until(lambda: line.states() == ["parked", "skipped"])
    assert line.quarantine().state == "open"
    assert Incident.objects.get().kind == "back-to-parked"


def test_a_newer_event_that_fails_meanwhile_needs_a_plan_of_its_own(line):
    line.park(b"bad 1")
    line.decide("apply")
    replay = line.approved()
    line.park(b"bad 2")
    heal(line)
    replay = line.play(replay)
    assert (replay.state, line.steps(replay)) == ("stopped", ["applied"])
    assert "1 more event(s)" in replay.stop_reason
    assert (line.quarantine().state, line.states()) == ("open", ["applied", "parked"])


def test_nothing_more_is_sent_after_a_cancel_and_what_was_sent_gets_its_outcome(line):
    line.park(b"bad 1", b"bad 2")
    line.decide("apply", "apply")
    heal(line)
    replay = line.tick(line.approved())
    cancel.cancel(replay_id=replay.pk, actor=ANNE, reason="changed my mind")
    replay = line.play(replay)
    assert (replay.state, line.steps(replay)) == ("cancelled", ["applied", "pending"])
    assert values(line.service.applied) == [b"bad 1"]


@pytest.mark.slow
def test_the_pace_holds(make_line):
    line = make_line(pace_per_second=1)
    line.park(b"bad 1", b"bad 2", b"bad 3")
    line.decide("apply", "apply", "apply")
    heal(line)
    replay = line.play(line.approved())
    assert replay.state == "completed"
    sent = list(replay.steps.order_by("ordinal").values_list("sent_at", flat=True))
    assert all(after - before >= timedelta(seconds=0.95) for before, after in pairwise(sent))


# Before anything is approved


def test_a_topic_that_is_missing_is_refused_and_not_created(line, kafka):
    """Case REP-19."""
    line.park(b"bad 1")
    line.decide("apply")
    Flow.objects.filter(pk=line.flow.pk).update(target_topic="no-such-topic")
    with pytest.raises(Refused, match="no-such-topic does not exist"):
        line.request()
    assert "no-such-topic" not in AdminClient({"bootstrap.servers": kafka}).list_topics(timeout=60).topics


def test_a_record_that_is_too_large_is_refused_before_the_approval(line, make_topic):
    """Case REP-11."""
    line.park(b"bad " + b"x" * 3000)
    line.decide("apply")
    small = make_topic("small", **{"max.message.bytes": "2000"})
    Flow.objects.filter(pk=line.flow.pk).update(target_topic=small)
    with pytest.raises(Refused, match="1 event\\(s\\) of this plan are larger"):
        line.request()


def test_the_parking_topic_is_no_target(line):
    line.park(b"bad 1")
    line.decide("apply")
    Flow.objects.filter(pk=line.flow.pk).update(target_topic=line.flow.parking_topic)
    with pytest.raises(Refused, match="its own parking topic"):
        line.request()


def test_a_partition_that_is_gone_is_replaced_by_the_key_s_with_a_note(line, make_topic, kafka):
    """Case REP-03."""
    line.park(b"bad 1", partition=2)
    line.decide("apply")
    two = make_topic("two", partitions=2)
    Flow.objects.filter(pk=line.flow.pk).update(target_topic=two)
    quarantine = line.quarantine()
    said = targets.warnings(quarantine.flow, plan.build(quarantine).steps)
    assert any("Partition 2" in sentence and "is gone" in sentence for sentence in said)
    replay = line.tick(line.approved())
    assert replay.steps.get().sent_partition in {0, 1}


def test_the_page_can_say_what_is_not_guaranteed(line):
    line.park(b"bad 1")
    line.decide("apply")
    quarantine = line.quarantine()
    said = " ".join(targets.warnings(quarantine.flow, plan.build(quarantine).steps))
    assert "newer event" in said
    assert "inferred" in said
    assert "twice" in said


def test_a_flow_with_the_gate_has_no_such_warnings():
    assert targets.warnings(Flow(target="gated"), []) == []


def test_a_plan_without_the_gate_sends_one_at_a_time(line):
    line.park(b"bad 1")
    line.decide("apply")
    assert Replay.objects.get(pk=line.request().pk).window == 1


@pytest.mark.slow
@pytest.mark.usefixtures("kafka_is_away")
def test_while_kafka_is_away_nothing_is_sent_and_nothing_is_believed(line):
    line.park(b"bad 1", b"bad 2")
    line.decide("apply", "apply")
    heal(line)
    replay = line.tick(line.approved())
    line.service.serve()
    Cluster.objects.update(bootstrap_servers="127.0.0.1:1")
    Step.objects.filter(replay=replay, state="in_flight").update(sent_at=replay.started_at - timedelta(minutes=5))
    run.advance(again(replay).pk, owner="test")
    replay = again(replay)
    assert (replay.state, line.steps(replay)) == ("running", ["in_flight", "pending"])
    assert replay.waiting_for
    Cluster.objects.update(bootstrap_servers=line.kafka)
    line.play(replay, until=lambda now: line.steps(now)[0] != "in_flight")
    assert line.steps(replay)[0] == "applied"


@pytest.mark.slow
def test_an_event_that_waits_on_a_watched_retry_topic_is_not_believed_to_be_applied(line):
    line.park(b"bad 1")
    line.decide("apply")
    heal(line)
    (event,), now = line.events(), timezone.now()
    waiting = PendingRetry.objects.create(
        flow=line.flow, event_digest=bytes(event.event_digest), event_id=event.event.event_id, topic="orders-retry",
        partition=0, offset=1, arrived_at=now + timedelta(seconds=50), until=now + timedelta(hours=1),
    )  # fmt: skip
    replay = line.approved()
    line.play(replay, until=lambda now: "parking_ends" in (now.steps.get().evidence or {}))
    for _ in range(5):
        line.intake.turn()
        replay = line.tick(replay)
    assert (line.steps(replay), line.states()) == (["in_flight"], ["parked"])
    waiting.delete()
    assert line.play(replay).state == "completed"
    assert line.states() == ["applied"]
