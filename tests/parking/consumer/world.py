"""The whole protocol for one key in one thread, around the real gate and a real ledger (DESIGN section 4).

Two source partitions and the replay partition, each with an owner; old owners whose handlers run on after a rebalance;
crashes around each commit and each publish; re-delivery; a console that plans, replaces, cancels and sends again. One
step is one transaction or one message. After each step the properties are checked on what the database has.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from parking import wire
from parking.attempt import Attempt
from parking.consumer.effect import Effect
from parking.consumer.gate import Gate
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.rows import Fate, Hold
from parking.consumer.ledger.statements import FATE_COLUMNS, HOLD_COLUMNS
from parking.consumer.ledger.transaction import Transaction, _fate, _hold
from parking.consumer.outbox import Outbox
from parking.consumer.step import Done, Later, Work
from parking.fingerprint import fingerprint
from parking.record import Record
from parking.wire import Announcement, Command, Outcome, names
from tests.parking.consumer.service import FLOW, Crash, Log, command, sent, source


class Violation(AssertionError):
    """A property of the protocol does not hold."""


@dataclass
class Owner:
    """Who reads one partition: how far it is and what its handler works on."""

    records: list[Record]
    position: int = 0
    running: Any = None


@dataclass
class Worker:
    """One replay of the console: what it has still to send."""

    token: int
    records: list[Record]


@dataclass
class Console:
    known: dict[str, Announcement] = field(default_factory=dict)
    facts: dict[str, Outcome] = field(default_factory=dict)
    released_position: int = -1
    token: int = 0
    read: int = 0
    workers: list[Worker] = field(default_factory=list)
    followed: list[int] = field(default_factory=list)

    @property
    def open(self) -> list[Announcement]:
        """What it holds and has no fact for, in order."""
        return sorted((e for e in self.known.values() if e.event_id not in self.facts), key=lambda e: e.position)

    @property
    def released(self) -> bool:
        return not self.open and all(e.position < self.released_position for e in self.known.values())


class World:
    """One run. `chance` decides what happens next; crashes and failures are rationed."""

    def __init__(self, ledger: Ledger, chance: Random, *, mark: str, crashes: int = 3, failures: int = 3) -> None:
        self.ledger: Any = ledger
        self.chance, self.mark = chance, mark
        self.crashes, self.failures, self.resends, self.cancels = crashes, failures, 2, 1
        self.time = 1_000
        self.gate = Gate(FLOW, ledger, self.now)
        self.log = Log()
        self.outbox = Outbox(FLOW.name, ledger, self.log)
        self.console = Console()
        self.replay_topic: list[Record] = []
        self.sources = [[source(f"{p}.{n}", n, partition=p) for n in range(3)] for p in (0, 1)]
        self.owners = [Owner(records) for records in (*self.sources, self.replay_topic)]
        self.zombies: list[Any] = []
        self.acted = 0
        self.before: dict[str, Fate] = {}
        self.story: list[str] = []

    def now(self) -> int:
        self.time += 1
        return self.time

    def run(self, steps: int) -> None:
        """So many steps at random, then all that is left to do, without crashes and failures. Raises Violation."""
        for _ in range(steps):
            self.act(self.chance.choice(self.possible()))
        self.come_to_rest()

    def act(self, what: tuple[str, Callable[[], None]]) -> None:
        name, call = what
        self.story.append(name)
        try:
            call()
        except Crash:
            self.story.append("  CRASH")
        self.check()

    def possible(self) -> list[tuple[str, Callable[[], None]]]:
        ways: list[tuple[str, Callable[[], None]]] = []
        for number, owner in enumerate(self.owners):
            ways += self._ways_of(number, owner)
        for zombie in self.zombies:
            ways.append(("zombie succeeds", partial(self.end_zombie, zombie, fails=False)))
            if self.failures:
                ways.append(("zombie fails", partial(self.end_zombie, zombie, fails=True)))
        ways.append(("outbox at start", lambda: self.publish(None)))
        if self.console.read < len(self.log.wires):
            ways += [("console reads", self.read)] * 3
        if not self.console.released and self.console.known and self.console.token < 4:
            ways += [(f"plan: {how} the first", partial(self.plan, how)) for how in ("apply", "skip", "amend", "miss")]
        for worker in self.console.workers:
            ways += [(f"worker {worker.token} sends", partial(self.send, worker))] * 3
            if self.cancels:
                ways.append((f"worker {worker.token} is cancelled", partial(self.cancel, worker)))
        if self.resends and self.replay_topic:
            ways.append(("console sends again", self.resend))
        return ways

    def _ways_of(self, number: int, owner: Owner) -> list[tuple[str, Callable[[], None]]]:
        ways: list[tuple[str, Callable[[], None]]] = []
        if isinstance(owner.running, Later):
            ways.append((f"{number} looks again, the buffer is over", lambda: self.look_again(owner)))
        elif owner.running is not None:
            ways += [(f"{number} handler succeeds", lambda: self.end(owner, fails=False))] * 2
            if self.failures:
                ways.append((f"{number} handler fails", lambda: self.end(owner, fails=True)))
            if self.crashes and len(self.zombies) < 2:
                ways.append((f"{number} REBALANCE", lambda: self.rebalance(owner)))
        elif owner.position < len(owner.records):
            ways += [(f"{number} reads {owner.position}", lambda: self.begin(owner))] * 2
        if self.crashes and owner.position:
            ways.append((f"{number} position lost", lambda: self.lose_position(owner)))
        return ways

    # --- the consumer

    def begin(self, owner: Owner) -> None:
        self.go_on(owner, self.gate.begin(owner.records[owner.position]))

    def end(self, owner: Owner, *, fails: bool) -> None:
        work, owner.running = owner.running, None
        self.go_on(owner, self.result(work, fails=fails))

    def look_again(self, owner: Owner) -> None:
        with self.ledger.transaction(FLOW.name) as transaction:
            transaction.execute("UPDATE siding_hold SET buffer_until = NULL", {})
        later, owner.running = owner.running, None
        self.go_on(owner, later.again())

    def result(self, work: Any, *, fails: bool) -> Any:
        if not isinstance(work, Work):
            return work()  # a draft's own second half
        if not fails:
            return work.applied(Effect(self.write(work)))
        self.failures -= 1
        return work.failed([Attempt(work.event.attempt, 1, "E", "no")], None)

    def write(self, work: Work) -> Callable[[Any], object]:
        event = work.event
        statement = f"INSERT INTO effect (event_id, value, token) VALUES ({self.mark}, {self.mark}, {self.mark})"
        return lambda connection: connection.execute(statement, [event.event_id, "v", event.token])

    def go_on(self, owner: Owner, step: Any) -> None:
        """Commit first, announce second, move on third; a crash may come before each."""
        if not isinstance(step, Done):
            owner.running = step
            return
        self.maybe_crash()
        self.publish(step.hold_key) if step.hold_key is not None else None
        if step.refusal is not None:
            raise Violation(f"refused {wire.outcome.decode(Record('p', 0, 0, 0, *step.refusal)).reason}")
        self.maybe_crash()
        owner.position += 1

    def publish(self, hold_key: bytes | None) -> None:
        self.log.dies = self.chance.choice(["", "", "before", "after"]) if self.crashes else ""
        try:
            self.outbox.publish(hold_key)
        except Crash:
            self.crashes -= 1
            raise
        finally:
            self.log.dies = ""

    def maybe_crash(self) -> None:
        if self.crashes and self.chance.random() < 0.1:
            self.crashes -= 1
            raise Crash

    def rebalance(self, owner: Owner) -> None:
        self.crashes -= 1
        self.zombies.append(owner.running)
        owner.running = None

    def lose_position(self, owner: Owner) -> None:
        self.crashes -= 1
        owner.running, owner.position = None, self.chance.randrange(owner.position)

    def end_zombie(self, work: Any, *, fails: bool) -> None:
        self.zombies.remove(work)
        step = self.result(work, fails=fails)
        if isinstance(step, Done) and step.hold_key is not None:
            self.publish(step.hold_key)

    # --- the console

    def read(self) -> None:
        heard = self.log.records[self.console.read]
        self.console.read += 1
        if isinstance(heard, Announcement):
            self.console.known.setdefault(heard.event_id, heard)
        elif heard.outcome in names.FACTS:
            self.console.facts.setdefault(str(heard.event_id), heard)
        elif heard.outcome == names.RELEASED:
            self.console.released_position = max(self.console.released_position, heard.position or 0)
        elif heard.token == self.console.token:
            self.stopped_or_follows(heard)

    def stopped_or_follows(self, heard: Outcome) -> None:
        console = self.console
        sending = [worker for worker in console.workers if worker.token == heard.token]
        if heard.outcome != names.STILL_HELD:
            console.workers = [worker for worker in console.workers if worker not in sending]
        elif not sending and console.followed.count(console.token) < 2:
            console.followed.append(console.token)
            self.hire([command(names.APPLY, event, console.token) for event in console.open])

    def plan(self, how: str) -> None:
        """Another plan, while older ones may still be on their way."""
        self.console.token += 1
        records = [command(names.APPLY, event, self.console.token) for event in self.console.open]
        if how == "miss":
            records = records[1:]  # a console that does not know of it, whatever the reason
        elif records and how != "apply":
            first = self.console.open[0]
            new = {"value": b"amended", "fingerprint": fingerprint(first.key, b"amended", first.headers)}
            action, changes = (names.SKIP, {}) if how == "skip" else (names.APPLY, new)
            records[0] = command(action, first, self.console.token, **changes)
        self.hire(records)

    def hire(self, records: list[Record]) -> None:
        marker = sent(Command(names.RELEASE, FLOW.name, b"k", self.console.token, "replay"))
        self.console.workers.append(Worker(self.console.token, [*records, marker]))

    def send(self, worker: Worker) -> None:
        self.replay_topic.append(worker.records.pop(0))
        if not worker.records:
            self.console.workers.remove(worker)

    def cancel(self, worker: Worker) -> None:
        self.cancels -= 1
        self.console.workers.remove(worker)

    def resend(self) -> None:
        self.resends -= 1
        self.replay_topic.append(self.chance.choice(self.replay_topic))

    # --- what must hold

    def ledger_state(self) -> tuple[Hold, dict[str, Fate], list[str]]:
        with self.ledger.transaction(FLOW.name, write=False) as transaction:
            hold = next(iter(self.rows(transaction, HOLD_COLUMNS, "siding_hold", _hold)), Hold(b"k"))
            fates = {fate.event_id: fate for fate in self.rows(transaction, FATE_COLUMNS, "siding_fate", _fate)}
            effects = [row[0] for row in transaction.connection.execute("SELECT event_id FROM effect").fetchall()]
        return hold, fates, effects

    def rows(self, transaction: Transaction, columns: str, table: str, read: Callable[[Any], Any]) -> list[Any]:
        return [read(row) for row in transaction.connection.execute(f"SELECT {columns} FROM {table}").fetchall()]

    def check(self) -> None:
        hold, fates, effects = self.ledger_state()
        if len(effects) != len(set(effects)):
            raise Violation(f"twice: {effects}")
        if sorted(effects) != sorted(name for name, fate in fates.items() if fate.state == "applied"):
            raise Violation("effects and fates differ")
        if not hold.quarantined and any(not fate.settled for fate in fates.values()):
            raise Violation("open with something held")
        for name, fate in fates.items():
            if fate != self.before.get(name):
                self.check_change(hold, name, fate, fates)
        self.before = fates

    def check_change(self, hold: Hold, name: str, fate: Fate, fates: dict[str, Fate]) -> None:
        before = self.before.get(name)
        if before is not None and before.settled:
            raise Violation(f"{name} changed after it was settled")
        if fate.token:
            if fate.token < self.acted:
                raise Violation(f"an old plan acted: {fate.token} after {self.acted}")
            self.acted = fate.token
        if fate.settled and before is not None:
            waiting = [f.position for f in self.before.values() if not f.settled and f.position is not None]
            if before.position != min(waiting):
                raise Violation(f"{name} overtook what was held before it")
        if fate.settled and before is None and hold.quarantined:
            raise Violation(f"{name} took effect live in a quarantined key")
        partition, number = name.split(".")
        if fate.state == "applied" and not all(
            (earlier := fates.get(f"{partition}.{n}")) is not None and earlier.settled for n in range(int(number))
        ):
            raise Violation(f"{name} overtook an earlier event of its partition")

    def come_to_rest(self) -> None:
        """No more crashes and failures: all must end well."""
        self.crashes = self.failures = self.resends = self.cancels = 0
        for _ in range(400):
            ways = [way for way in self.possible() if "plan" not in way[0] and "fails" not in way[0]]
            quiet = all(owner.running is None and owner.position == len(owner.records) for owner in self.owners)
            if quiet and not self.zombies and not self.console.workers and self.console.read == len(self.log.wires):
                self.publish(None)
                if self.console.read == len(self.log.wires) and (self.console.released or not self.console.known):
                    break
                if self.console.read == len(self.log.wires):
                    self.act(("plan at rest", lambda: self.plan("apply")))
                continue
            ways = [way for way in ways if way[0] != "outbox at start"] or ways
            self.act(self.chance.choice(ways))
        self.check_end()

    def check_end(self) -> None:
        hold, fates, _ = self.ledger_state()
        held = {name for name, fate in fates.items() if not fate.settled}
        if hold.quarantined or held:
            raise Violation(f"never released: {held}, the console knows {list(self.console.known)}")
        if self.console.known and not self.console.released:
            raise Violation(
                f"phantom: the console holds {[e.event_id for e in self.console.open]}, the consumer nothing"
            )
        if len(fates) != sum(len(records) for records in self.sources):
            raise Violation(f"lost: only {list(fates)}")
        for name, fact in self.console.facts.items():
            fate = fates[name]
            if (fact.outcome, fact.fate_token, fact.fingerprint) != (fate.state, fate.token, fate.fingerprint):
                raise Violation(f"the console's fact of {name} differs from the ledger's")
