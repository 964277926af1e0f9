"""The whole loop, by Hypothesis: the real kit, intake's store, plans, approvals, replays and releases, step by step.

PostgreSQL is the console's, SQLite the service's, and the replay topic is on Kafka; source and parking topic are lists
of records as Kafka would give them. Everything that may happen happens in any order: crashes before and after each
publish, re-delivery on both sides, an old owner that runs on, two keys, failures in replays, cancels. In the end all
must have come out well. More examples: SIDING_LOOP_EXAMPLES=200.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from parking.attempt import Attempt
from parking.consumer import Effect, Event, Poison, Retries
from parking.consumer.outbox import Outbox
from parking.consumer.process import Process
from parking.consumer.step import Done, Work
from parking.errors import Refused
from parking.models import EventState, Quarantine
from parking.record import Record
from parking.wire import Wire
from replay import decide, plan, request, run, states
from replay.models import Replay
from tests.replay.conftest import make_line as make_line  # noqa: PLC0414 -- a fixture
from tests.replay.line import ANNE, Line, again

KEYS = (b"acct-1", b"acct-2")
EXAMPLES = int(os.environ.get("SIDING_LOOP_EXAMPLES", "6"))
MOST = 7
ROUNDS = 60

WEIGHTS = {
    "a_producer_sends": 4,
    "the_source_is_read": 6,
    "the_replay_topic_is_read": 6,
    "records_come_again": 1,
    "the_outbox_is_looked_through": 1,
    "a_dependency_breaks_or_heals": 1,
    "an_owner_loses_its_partition": 1,
    "the_old_owner_ends": 2,
    "intake_reads": 6,
    "somebody_decides": 4,
    "a_replay_is_asked_for_and_approved": 4,
    "the_worker_works": 6,
    "somebody_cancels": 1,
}
WEIGHTED = [name for name, weight in WEIGHTS.items() for _ in range(weight)]
dies = st.sampled_from(["", "", "", "before", "after"])


class Crash(BaseException):
    """The consumer's process dies here."""


class Loop(RuleBasedStateMachine):
    """One line. `positions`: how far the consumer is in source and replay topic, `taken` how far intake is."""

    def __init__(self, make_line: Callable[..., Line], reached: Counter[str]) -> None:
        super().__init__()
        self.line = line = make_line()
        self.reached = reached
        self.began = int(time.time() * 1000)
        self.source: list[Record] = []
        self.replayed: list[Record] = []
        self.positions = {"source": 0, "replay": 0}
        self.dies = ""
        self.healthy = True
        self.old: Work | None = None
        line.process = Process(line.gate, Outbox(line.flow.name, line.ledger, self), self.handle, Retries(attempts=1))

    @rule(
        what=st.sampled_from(WEIGHTED), dies=dies, key=st.sampled_from(KEYS), flag=st.booleans(),
        value=st.sampled_from(["good", "bad", "flaky"]),
    )  # fmt: skip
    def step(self, what: str, dies: str, key: bytes, value: str, flag: bool) -> None:
        """One of the things below. One rule, because Hypothesis leaves out whole rules, and a line that nobody reads
        shows nothing."""
        given: dict[str, dict[str, Any]] = {
            "a_producer_sends": {"key": key, "value": value},
            "the_source_is_read": {"dies": dies},
            "the_replay_topic_is_read": {"dies": dies},
            "records_come_again": {"side": "source" if flag else "replay"},
            "the_old_owner_ends": {"fails": flag},
            "intake_reads": {"count": 3 if flag else 1},
            "somebody_decides": {"action": "skip" if flag else "apply"},
            "a_replay_is_asked_for_and_approved": {"follow": "follow" if key == KEYS[0] else "stop"},
        }
        getattr(self, what)(**given.get(what, {}))

    # The consumer

    def handle(self, event: Event) -> Effect:
        value = event.value or b""
        if value.startswith(b"bad") or (value.startswith(b"flaky") and not self.healthy):
            raise Poison("no")
        return self.line.handler(event)

    def publish(self, hold_key: bytes, published: Wire) -> None:
        if self.dies == "before":
            raise Crash
        self.line.publish(hold_key, published)
        if self.dies == "after":
            raise Crash

    def take(self, side: str, dies: str) -> None:
        records = self.source if side == "source" else self.replayed
        if self.positions[side] >= len(records):
            return
        self.dies = dies
        with suppress(Crash):
            self.line.process(records[self.positions[side]], self.wait)
            self.positions[side] += 1
        self.dies = ""

    def wait(self, _: float) -> None:
        """Ten seconds pass: whoever waits for a key that is about to open need not."""
        with self.line.ledger.transaction("") as transaction:
            transaction.execute("UPDATE siding_hold SET buffer_until = NULL", {})

    def a_producer_sends(self, key: bytes, value: str) -> None:
        if len(self.source) >= MOST:
            return
        number = len(self.source)
        name = f"e{number}"
        self.source.append(
            Record(
                self.line.flow.source_topic, 0, number, self.began + number, key, f"{value} {name}".encode(),
                (("event-id", name.encode()),),
            )
        )  # fmt: skip

    def the_source_is_read(self, dies: str) -> None:
        self.take("source", dies)

    def the_replay_topic_is_read(self, dies: str) -> None:
        self.replayed += self.line.read_replay_topic()
        self.take("replay", dies)

    def records_come_again(self, side: str) -> None:
        self.positions[side] = max(0, self.positions[side] - 2)

    def the_outbox_is_looked_through(self) -> None:
        self.line._outbox.publish(None)

    def a_dependency_breaks_or_heals(self) -> None:
        self.healthy = not self.healthy

    def an_owner_loses_its_partition(self) -> None:
        if self.old is not None or self.positions["source"] == len(self.source):
            return
        step = self.line.gate.begin(self.source[self.positions["source"]])
        self.old = step if isinstance(step, Work) else None

    def the_old_owner_ends(self, fails: bool) -> None:
        work, self.old = self.old, None
        if work is None:
            return
        if fails or (work.event.value or b"").startswith(b"bad"):
            step = work.failed([Attempt(1, 1, "E", "no")], None)
        else:
            step = work.applied(self.line.handler(work.event))
        if isinstance(step, Done) and step.hold_key is not None:
            self.line._outbox.publish(step.hold_key)

    # The console

    def intake_reads(self, count: int) -> None:
        wires, self.line.published = self.line.published[:count], self.line.published[count:]
        self.line.store.take(wires)

    def somebody_decides(self, action: str) -> None:
        for event in self.undecided()[:1]:
            self.refusable(
                lambda: decide.decide(event_state_id=event.pk, action=action, reason="seen", actor=ANNE)  # noqa: B023
            )

    def a_replay_is_asked_for_and_approved(self, follow: str) -> None:
        for quarantine in self.open():
            self.refusable(lambda: self.start(quarantine, follow))  # noqa: B023

    def start(self, quarantine: Quarantine, follow: str = "follow") -> None:
        digest = plan.build(quarantine, follow=follow).digest
        asked = request.request(quarantine_id=quarantine.pk, digest=digest, actor=ANNE, reason="replay", follow=follow)
        self.line.approve(asked)

    def the_worker_works(self) -> None:
        for replay in self.driven():
            run.advance(again(replay).pk, owner="loop", seconds=0)

    def somebody_cancels(self) -> None:
        for replay in self.driven()[:1]:
            self.refusable(lambda: self.line.cancel(replay))  # noqa: B023

    def refusable(self, verb: Callable[[], object]) -> None:
        with suppress(Refused):
            verb()

    def driven(self) -> list[Replay]:
        return list(Replay.objects.filter(flow=self.line.flow, state__in=states.DRIVEN))

    def open(self) -> list[Quarantine]:
        rows = Quarantine.objects.filter(flow=self.line.flow, state="open")
        return list(rows.select_related("flow", "hold_key"))

    def undecided(self) -> list[EventState]:
        rows = EventState.objects.filter(flow=self.line.flow, kind="poison", state="parked", decision__isnull=True)
        return list(rows.order_by("pk"))

    # What must hold

    @invariant()
    def order_and_once(self) -> None:
        effects = [name for name, _ in self.line.effects()]
        assert len(effects) == len(set(effects)), f"twice: {effects}"
        for key in KEYS:
            places = [place for place, record in enumerate(self.source) if record.key == key]
            ours = [int(name[1:]) for name in effects if int(name[1:]) in places]
            assert ours == sorted(ours), f"out of order: {effects}"

    def teardown(self) -> None:
        """No more crashes and failures: all comes to rest, and all is well."""
        self.healthy = True
        if self.old is not None:
            self.the_old_owner_ends(fails=False)
        for _ in range(ROUNDS):
            self.round()
            if self.at_rest():
                break
        self.order_and_once()
        self.all_is_well()
        quarantines = Quarantine.objects.filter(flow=self.line.flow)
        self.reached["released"] += quarantines.count()
        self.reached["cancelled"] += Replay.objects.filter(flow=self.line.flow, state="cancelled").count()
        self.reached["stopped"] += Replay.objects.filter(flow=self.line.flow, state="stopped").count()
        self.reached["held"] += EventState.objects.filter(flow=self.line.flow, kind="held").count()
        self.line.close()

    def round(self) -> None:
        for side in ("source", "replay"):
            for _ in range(len(self.source) + len(self.replayed)):
                self.take(side, "")
        self.the_outbox_is_looked_through()
        self.intake_reads(1000)
        for event in self.undecided():
            action = "skip" if bytes(event.payload.value or b"").startswith(b"bad") else "apply"
            self.refusable(
                lambda: decide.decide(event_state_id=event.pk, action=action, reason="seen", actor=ANNE)  # noqa: B023
            )
        self.decide_what_fails()
        for quarantine in self.open():
            if not quarantine.replays.living().exists():
                self.refusable(lambda: self.start(quarantine))  # noqa: B023
        self.the_worker_works()
        self.replayed += self.line.read_replay_topic()

    def decide_what_fails(self) -> None:
        """Who decided to apply what can never succeed decides anew."""
        for event in EventState.objects.filter(flow=self.line.flow, state="parked", decision__action="apply"):
            if bytes(event.payload.value or b"").startswith(b"bad"):
                self.refusable(lambda: self.line.decide_again(event.event.event_id, "skip"))  # noqa: B023

    def at_rest(self) -> bool:
        read = self.positions == {"source": len(self.source), "replay": len(self.replayed)}
        unreleased = Quarantine.objects.filter(flow=self.line.flow).exclude(state="released").exists()
        return read and not unreleased and not self.driven() and not self.line.published

    def histories(self, quarantine: Quarantine) -> Iterator[tuple[object, ...]]:
        for event in quarantine.events.select_related("event"):
            yield event.event.event_id, event.kind, event.state, event.position
        for replay in quarantine.replays.all():
            yield replay.pk, replay.state, replay.stop_reason, replay.waiting_for, replay.token, self.line.steps(replay)

    def all_is_well(self) -> None:
        left = Quarantine.objects.filter(flow=self.line.flow).exclude(state="released")
        told = [
            (one.pk, one.state, one.last_position, one.hold_key.released_position, list(self.histories(one)))
            for one in left
        ]
        assert not told, f"never released: {told}; the parking topic ends with {self.line.published}"
        with self.line.ledger.transaction(self.line.flow.name) as transaction:
            fates = {f"e{n}": transaction.fate(f"e{n}") for n in range(len(self.source))}
        for name, fate in fates.items():
            assert fate is not None, f"{name} is lost"
            assert fate.settled, f"{name} is still held"
        for event in EventState.objects.select_related("event").filter(flow=self.line.flow):
            fate = fates[event.event.event_id]
            assert fate is not None
            fact = (event.state, event.fate_token, bytes(event.fate_fingerprint or b""))
            assert fact == (fate.state, fate.token, fate.fingerprint), f"{event.event.event_id}: the facts differ"


@pytest.mark.slow
def test_whatever_happens_it_ends_well(make_line: Callable[..., Line]) -> None:
    reached: Counter[str] = Counter()
    run_state_machine_as_test(
        partial(Loop, make_line, reached),  # type: ignore[arg-type]  # it only calls it
        settings=settings(
            max_examples=EXAMPLES, stateful_step_count=45, deadline=None, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate], derandomize=EXAMPLES <= 6,
        ),
    )  # fmt: skip
    print(dict(reached))
    assert reached["released"] >= EXAMPLES / 2, "the runs are to reach the interesting states"
