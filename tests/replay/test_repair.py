"""The consumer's ledger was restored or lost: the whole quarantine is held again, under approval like any replay."""

from dataclasses import replace

import pytest

from parking.consumer import Retries
from parking.consumer.gate import Gate
from parking.consumer.process import Process
from parking.errors import Conflict, Refused
from parking.models import EventState, Incident, Quarantine
from parking.wire.announcement import as_pointer
from replay import plan, request
from replay.models import Replay
from tests.replay.line import ANNE, BORIS, Line

TABLES = ("siding_hold", "siding_fate", "siding_announcement", "effect")


def lose(line: Line) -> None:
    """The service's database is empty again."""
    with line.ledger.transaction("") as transaction:
        for table in TABLES:
            transaction.connection.execute(f"DELETE FROM {table}")


def ask(line: Line) -> Replay:
    quarantine = line.quarantine()
    digest = plan.repair(quarantine).digest
    return request.request(
        quarantine_id=quarantine.pk, digest=digest, actor=ANNE, reason="their database was restored", repair=True
    )


def repaired(line: Line) -> Replay:
    return line.play(line.approve(ask(line)))


def unsettled(line: Line) -> list[str]:
    return [event.event.event_id for event in EventState.objects.unsettled(line.quarantine())]


def test_a_lost_ledger_is_noticed_held_again_and_replayed_in_order(line: Line) -> None:
    line.park("e1", "e2", "e3")
    positions = [line.event(name).position for name in ("e1", "e2", "e3")]
    line.decide("e1", "skip")
    lose(line)
    stopped = line.play(line.approved())
    assert (stopped.state, line.steps(stopped)[0]) == ("stopped", ("e1", "failed"))
    assert "not-held" in stopped.stop_reason
    assert Incident.objects.filter(kind="restored-ledger").exists()

    repair = repaired(line)
    assert (repair.state, line.steps(repair)) == ("completed", [("e1", "held"), ("e2", "held"), ("e3", "held")])
    assert line.quarantine().state == Quarantine.State.OPEN
    assert [record.last("siding-action") for record in line.replayed[-3:]] == [b"hold"] * 3
    assert [int(record.last("siding-position") or 0) for record in line.replayed[-3:]] == positions
    line.deliver("e4", b"good e4")
    line.park_all()
    again = line.play(line.approved())
    assert again.state == "completed", again.stop_reason
    assert line.effects() == [("e2", b"good e2"), ("e3", b"good e3"), ("e4", b"good e4")]
    assert line.quarantine().state == Quarantine.State.RELEASED


def test_settled_events_come_back_where_the_ledger_forgot_their_effect(line: Line) -> None:
    """e1 and e2 were applied before the backup was put back: their effects are gone, so they are parked again."""
    line.change(window=1)
    line.park("e1", "e2", "e3")
    backup = line.backup()
    line.decide("e1", "skip")
    replay = line.approved()
    line.play(replay, until=lambda _: line.event("e2").state == "applied" and line.event("e3").state == "parked")
    line.cancel(replay)
    line.play(replay)
    line.restore(backup)
    assert "e1" not in unsettled(line)
    repair = repaired(line)
    assert repair.state == "completed", repair.stop_reason
    assert unsettled(line) == ["e1", "e2", "e3"]
    assert Incident.objects.filter(kind="back-to-parked").exists()
    done = line.play(line.approved())
    assert done.state == "completed", done.stop_reason
    assert [event for event, _ in line.effects()] == ["e2", "e3"]


def test_what_the_ledger_knows_it_answers_with_the_fact(line: Line) -> None:
    line.change(window=1)
    line.park("e1", "e2", "e3")
    line.decide("e1", "skip")
    replay = line.approved(follow="stop")
    line.play(replay, until=lambda _: line.event("e2").state == "applied")
    line.cancel(replay)
    line.play(replay)
    effects = line.effects()
    repair = repaired(line)
    assert repair.state == "completed", repair.stop_reason
    assert dict(line.steps(repair))["e1"] == "duplicate"
    assert repair.steps.get(ordinal=1).reason.startswith("was skipped before (under token")
    assert line.effects() == effects
    assert line.event("e2").state == "applied"


def test_a_pointer_whose_bytes_nobody_has_is_held_again_too(line: Line) -> None:
    """Settled or not: the ledger needs its place in the line, and the plan must not wait for what is gone."""
    line.change(window=1)
    for name in ("e1", "e2", "e3", "e4"):
        line.deliver(name, b"bad e1" if name == "e1" else b"good " + name.encode())
    for n in (1, 3):
        line.published[n] = as_pointer(line.published[n])
    line.park_all()
    for name in ("e1", "e2", "e4"):
        line.decide(name, "skip")
    replay = line.approved()
    line.play(replay, until=lambda _: line.event("e2").state == "skipped" and line.event("e3").state == "parked")
    line.cancel(replay)
    line.play(replay)
    lose(line)
    repair = repaired(line)
    assert (repair.state, line.steps(repair)) == ("completed", [(f"e{n}", "held") for n in (1, 2, 3, 4)])
    assert unsettled(line) == ["e1", "e2", "e3", "e4"]
    done = line.play(line.approved())
    assert done.state == "completed", done.stop_reason
    assert line.effects() == [("e3", b"good e3")]


def test_another_fact_than_ours_is_a_conflict(line: Line) -> None:
    """The restored ledger had forgotten its floor, and an old record applied what a newer plan had skipped."""
    line.change(window=1)
    line.park("e1", "e2")
    backup = line.backup()
    line.decide("e1", "skip")
    replay = line.approved()
    line.play(replay, until=lambda _: line.event("e1").state == "skipped")
    line.cancel(replay)
    line.play(replay)
    line.restore(backup)
    with line.ledger.transaction(line.flow.name) as transaction:
        applied = "UPDATE siding_fate SET state = 'applied', fingerprint = :other WHERE kind = 'poison'"
        transaction.execute(applied, {"other": b"f" * 32})
    repair = repaired(line)
    assert (repair.state, repair.stopped_at_step) == ("stopped", 1)
    assert "here it is skipped, the consumer has it applied" in repair.stop_reason
    assert Incident.objects.filter(kind="conflict").exists()


def test_a_ledger_of_just_before_the_release_keeps_the_key_until_its_next_event(line: Line) -> None:
    """Nothing is held, so nothing waits and nothing is seen; what comes next is held behind the release."""
    line.change(window=1)
    line.park("e1", "e2")
    line.decide("e1", "skip")
    replay = line.approved()
    line.play(replay, until=lambda _: line.event("e2").state == "applied")
    backup = line.backup()
    assert line.play(replay).state == "completed"
    before = line.quarantine()
    assert before.state == Quarantine.State.RELEASED
    line.restore(backup)
    line.deliver("e3", b"good e3")
    line.park_all()
    opened = line.quarantine()
    assert (opened.state, opened.pk > before.pk) == (Quarantine.State.OPEN, True)
    done = line.play(line.approved())
    assert done.state == "completed", done.stop_reason
    line.deliver("e4", b"good e4")
    assert [event for event, _ in line.effects()] == ["e2", "e3", "e4"]


def test_a_key_whose_events_came_again_to_the_lost_ledger_ends(line: Line) -> None:
    """They took effect live before anybody held the key again: nothing is held, and no position of ours is known."""
    line.park("e1")
    lose(line)
    line.process = Process(line.gate, line._outbox, line.write, Retries(attempts=1))
    line.deliver("e1", b"bad e1")
    line.decide("e1", "apply")
    stopped = line.play(line.approved())
    assert "does not exceed ours" in stopped.stop_reason
    assert repaired(line).state == "completed"
    assert line.event("e1").state == "applied"
    done = line.play(line.approved())
    assert done.state == "completed", done.stop_reason
    assert line.quarantine().state == Quarantine.State.RELEASED
    assert [event for event, _ in line.effects()] == ["e1"]


def test_it_needs_another_person_and_no_decisions(line: Line) -> None:
    line.park("e1", "e2", bad=2)
    repair = ask(line)
    with pytest.raises(Refused, match="another person"):
        line.approve(repair, actor=ANNE)
    assert line.approve(repair, actor=BORIS).state == "approved"


def test_an_event_more_makes_it_another_plan_only_in_between(line: Line) -> None:
    """What is held meanwhile is behind the last one that was approved: the consumer knows it."""
    line.park("e1", "e2")
    repair = ask(line)
    line.deliver("e3")
    line.park_all()
    assert line.approve(repair).state == "approved"


def test_the_plan_that_was_shown(line: Line) -> None:
    line.park("e1", "e2")
    quarantine = line.quarantine()
    line.decide("e1", "skip")
    asked = plan.build(quarantine)
    assert asked.digest != plan.repair(quarantine).digest
    with pytest.raises(Conflict, match="changed since it was shown"):
        request.request(quarantine_id=quarantine.pk, digest=asked.digest, actor=ANNE, reason="mixed up", repair=True)


def test_a_position_that_the_ledger_gave_anew_stops_it(line: Line) -> None:
    """The lost ledger has parked something else of the key at that very position: a person has to look."""
    line.park("e1", "e2")
    lose(line)
    line.deliver("x1", b"bad x1")
    with line.ledger.transaction(line.flow.name) as transaction:
        transaction.execute("UPDATE siding_fate SET position = :at", {"at": line.event("e2").position})
    repair = repaired(line)
    assert (repair.state, repair.steps.get(ordinal=2).state) == ("stopped", "failed")
    assert "is that of the held event 'x1'" in repair.stop_reason


def test_a_signed_flow_signs_hold_records_too(make_line, settings) -> None:
    line = make_line()
    settings.FLOW_SECRETS = {line.flow.name: b"secret"}
    gate = Gate(replace(line.kit(), secret=b"secret"), line.ledger)
    line.process = Process(gate, line.process._outbox, line.handler, Retries(attempts=1))
    line.park("e1", "e2")
    lose(line)
    assert repaired(line).state == "completed"


def test_a_flow_without_the_gate_has_nothing_to_hold(line: Line) -> None:
    line.park("e1")
    line.change(target="plain")
    with pytest.raises(Refused, match="keeps no ledger"):
        plan.repair(line.quarantine())


def test_a_settled_event_without_bytes_is_left_out(line: Line) -> None:
    line.park("e1", "e2")
    line.decide("e1", "skip")
    replay = line.approved()
    line.play(replay, until=lambda _: line.event("e1").state == "skipped")
    line.cancel(replay)
    line.play(replay)
    EventState.objects.filter(pk=line.event("e1").pk).update(scrubbed_at=line.event("e1").stored_at)
    assert "e1" not in [step.event_id for step in plan.repair(line.quarantine()).steps]
