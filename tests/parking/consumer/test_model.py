"""The protocol around the real gate and ledgers, at random, and earlier drafts of it, which it must catch."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest

from parking.consumer.ledger import rules
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.rows import Due, Fate
from parking.consumer.ledger.rules import Answer
from parking.consumer.ledger.transaction import FateExists, Transaction
from parking.consumer.replay_gate import ReplayGate
from parking.consumer.source_gate import SourceGate
from parking.consumer.step import Done
from parking.wire import names
from tests.parking.consumer.service import Crash
from tests.parking.consumer.world import Violation, World

pytestmark = pytest.mark.slow

RUNS = {"sqlite": 120, "postgresql": 25}
DRAFT_RUNS = 1500
Draft = Callable[[pytest.MonkeyPatch], None]
TABLES = ("siding_hold", "siding_fate", "siding_announcement", "effect")


def worlds(ledger: Ledger, seeds: range) -> Iterator[World]:
    for seed in seeds:
        with ledger.transaction("") as transaction:
            for table in TABLES:
                transaction.connection.execute(f"DELETE FROM {table}")
        yield World(ledger, Random(seed), mark="?" if ledger.schema == "sqlite" else "%s")


def test_no_run_breaks_order_onceness_or_agreement(ledger: Ledger) -> None:
    """Order per key, no effect twice, nothing lost, no old plan after a newer one, no phantom, facts agree."""
    released = skipped = held = 0
    for world in worlds(ledger, range(RUNS[ledger.schema])):
        try:
            world.run(100)
        except Violation as violation:
            pytest.fail(f"{violation}\n" + "\n".join(world.story))
        released += any(outcome.outcome == names.RELEASED for outcome in world.log.outcomes)
        skipped += any(fact.outcome == names.SKIPPED for fact in world.console.facts.values())
        held += any(parked.kind == names.HELD for parked in world.log.announcements)
    runs = RUNS[ledger.schema]
    assert released > runs / 3, "the runs are to reach the interesting states"
    assert skipped > runs / 20
    assert held > runs / 4


def releasing_by_a_counter(patch: pytest.MonkeyPatch) -> None:
    """What is held is counted up and down as records go by, and the key opens at zero."""
    counter = [0]
    park, announce = SourceGate._park, ReplayGate._announce

    def counting_park(gate, *args, **options):
        counter[0] += 1
        park(gate, *args, **options)

    def counting_announce(gate, transaction, asked, hold, answer):
        counter[0] -= answer.outcome in names.FACTS
        announce(gate, transaction, asked, hold, answer)

    patch.setattr(SourceGate, "_park", counting_park)
    patch.setattr(ReplayGate, "_announce", counting_announce)
    patch.setattr(Transaction, "count_held", lambda *_: (max(counter[0], 0), 0))
    patch.setattr(World, "__init__", _resetting(counter, World.__init__))


def publishing_before_committing(patch: pytest.MonkeyPatch) -> None:
    """The announcement is out before the decision is; a crash between the two leaves a phantom."""
    begin = World.begin
    end = World.end

    def early(step: Callable[..., None]) -> Callable[..., None]:
        def run(world: World, owner, **options) -> None:
            commit = world.ledger._commit

            def publish_first(connection) -> None:
                rows = connection.execute(
                    "SELECT record, hold_key FROM siding_announcement ORDER BY sequence"
                ).fetchall()
                for record, hold_key in rows:
                    world.log.publish(bytes(hold_key), Due(0, bytes(hold_key), bytes(record)).wire)
                if rows and world.crashes and world.chance.random() < 0.3:
                    world.crashes -= 1
                    owner.running = None
                    raise Crash
                commit(connection)

            world.ledger._commit = publish_first
            try:
                step(world, owner, **options)
            finally:
                del world.ledger._commit

        return run

    patch.setattr(World, "begin", early(begin))
    patch.setattr(World, "end", early(end))


def deciding_outside_the_lock(patch: pytest.MonkeyPatch) -> None:
    """The key was quarantined when it was read; the event is held later, without looking again."""

    def blindly(gate: SourceGate, seen) -> Done:
        with suppress(FateExists), gate._ledger.transaction(gate._flow.name) as transaction:
            hold, held = rules.hold(transaction.lock(seen.fate.hold_key), seen.fate, gate._now_ms())
            transaction.save_hold(hold)
            gate._park(transaction, seen, held, blocked_by=hold.blocked_by)
        return Done(seen.fate.hold_key)

    patch.setattr(SourceGate, "_hold", lambda gate, seen: lambda: blindly(gate, seen))


def no_second_look(patch: pytest.MonkeyPatch) -> None:
    """What the handler of a replay decided takes effect, whatever happened while it ran."""
    look, look_again = ReplayGate._look, ReplayGate._rules

    def first_look(gate, asked):
        patch.setattr(ReplayGate, "_rules", look_again)
        try:
            return look(gate, asked)
        finally:
            patch.setattr(ReplayGate, "_rules", without_rules)

    def without_rules(gate, transaction, asked):
        return transaction.lock(asked.hold_key), transaction.fate(asked.event_id)

    patch.setattr(ReplayGate, "_look", first_look)
    patch.setattr(ReplayGate, "_rules", without_rules)


def no_floor(patch: pytest.MonkeyPatch) -> None:
    rule = rules.replay
    patch.setattr(rules, "replay", lambda key, fate, first, asked: rule(replace(key, floor=0), fate, first, asked))


def no_head_rule(patch: pytest.MonkeyPatch) -> None:
    rule = rules.replay

    def any_held(key, fate, first, asked) -> Answer | Fate:
        return rule(key, fate, fate, asked)

    patch.setattr(rules, "replay", any_held)


def no_release_check(patch: pytest.MonkeyPatch) -> None:
    rule = rules.release
    patch.setattr(rules, "release", lambda key, held, token: rule(key, 0, token))


def no_outbox(patch: pytest.MonkeyPatch) -> None:
    """A decision that was not published before the crash is never published."""

    def forgetting(world: World, owner, step) -> None:
        if isinstance(step, Done) and world.crashes and world.chance.random() < 0.2:
            world.crashes -= 1
            with world.ledger.transaction("disputes") as transaction:
                transaction.connection.execute("DELETE FROM siding_announcement")
            raise Crash
        go_on(world, owner, step)

    go_on = World.go_on
    patch.setattr(World, "go_on", forgetting)


def _resetting(counter: list[int], init: Callable[..., None]) -> Callable[..., None]:
    def fresh(world: World, *args, **options) -> None:
        counter[0] = 0
        init(world, *args, **options)

    return fresh


@pytest.mark.parametrize("make_ledger", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "draft",
    [
        releasing_by_a_counter,
        publishing_before_committing,
        deciding_outside_the_lock,
        no_second_look,
        no_floor,
        no_head_rule,
        no_release_check,
        no_outbox,
    ],
)
def test_earlier_drafts_fall(ledger: Ledger, draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them looked right once, or is one rule short: the model finds a run that breaks it."""
    draft(monkeypatch)
    for world in worlds(ledger, range(DRAFT_RUNS)):
        try:
            world.run(100)
        except Violation:
            return
    pytest.fail("the model does not see what is wrong with this draft")
