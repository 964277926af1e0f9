"""All interleavings within bounds, depth first: each state once, the properties after each step and at each end.

What the consumer publishes is read by the console at once. That loses nothing: the console's own actions (a plan, a
sending, a cancel) depend only on what it has read, and the consumer only on what was sent. So an action that comes
after a record was published and before it was read could as well have come before it was published, and is explored
there. What the console sends is a step of its own, and so is what the consumer takes.
"""

import itertools
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from parking.wire import names
from tests.consumer.model.consumer import AMENDED, Answer, Consumer, Doing, Done, Order, Parked, Purging, What
from tests.consumer.model.kit import Kit

HOLD = ("flow", "key_digest", "hold_key", "quarantined", "blocked_by", "floor", "released", "released_position", "next")
PUT_BACK, REPAIRED = -1, -2
PUBLISHING = ("outbox", "publish")
AGE = 1_000
STOPS = (names.FAILED, names.FENCED, names.NOT_HELD, names.OUT_OF_ORDER, names.REFUSED)


@dataclass(frozen=True)
class Bounds:
    """What may happen, and how often.

    `plans`: what a plan may decide about the first event of the key; `miss` leaves it out, as a console would that does
    not know of it, whatever the reason.
    """

    partitions: tuple[tuple[str, ...], ...]
    tokens: int = 1
    crashes: int = 0
    failures: int = 1
    cancels: int = 0
    resends: int = 0
    sweeps: int = 0
    zombies: bool = False
    follows: bool = True
    together: bool = False
    """Whether another plan may start while the worker of an older one still sends."""
    plans: tuple[str, ...] = ("apply",)
    purges: int = 0
    """Passes of the purge, while the retention of the topics deletes what was decided and read."""
    losses: int = 0
    """Answers `released` that the parking topic loses before the console reads them."""
    early: bool = False
    """Whether a backup may be older than the quarantine, of which the console knows all, then."""
    restores: int = 0
    """Whether the service's database may be put back, once, to a time at which all events had been read."""
    fine: bool = False
    """Whether reading what is due, publishing and forgetting it are steps of their own, among which others act."""
    positions: bool = True
    """Whether the console looks at the released position, or takes every `released` for the end of what it knows."""


class World(NamedTuple):
    """One state of everything."""

    ledger: int
    owners: tuple[tuple[int, Doing | None], ...]
    """Of each source partition, and of the replay partition: how far it is, and what it does."""
    zombie: Doing | None
    sweep: Doing | None
    replay: tuple[Order, ...]
    known: frozenset[tuple[str, int]]
    facts: frozenset[tuple[str, tuple[str, int, bytes]]]
    released: int
    token: int
    workers: tuple[tuple[int, tuple[Order, ...]], ...]
    followed: tuple[int, ...]
    acted: int
    crashes: int
    failures: int
    cancels: int
    resends: int
    sweeps: int
    backup: int | None = None
    """The ledger as it was backed up; PUT_BACK, then REPAIRED once the console has asked to hold the key again."""
    purges: int = 0
    purge: Doing | None = None
    now: int = 1
    """The time, which moves when the purge looks at it: what was decided before that is older than what is after it."""
    lows: tuple[int, ...] = ()
    """Where the partitions begin: what is before may still be at hand, but is not delivered again."""
    forgotten: frozenset[tuple[int, int]] = frozenset()
    """The source records whose fates were purged."""
    losses: int = 0
    losing: bool = False
    lost: bool = False
    """Whether the next `released` will not arrive, and whether one did not."""


class Fate(NamedTuple):
    state: str
    position: int | None
    token: int
    fingerprint: bytes | None
    source: tuple[int, int]


class Step(NamedTuple):
    """One way on for a process: what it does then (None: it has ended, or it died)."""

    name: str
    doing: Doing | None
    then: World
    dies: bool = False


class View(NamedTuple):
    """What the properties need of a ledger."""

    quarantined: bool
    floor: int
    fates: dict[str, Fate]
    effects: list[str]
    values: list[bytes]
    """What took effect: one for each source record, whatever id it has."""


class Violation(Exception):
    """A property does not hold; the message tells which, and the story that leads there."""


class Search:
    """Explores everything within the bounds."""

    def __init__(self, kit: Kit, bounds: Bounds) -> None:
        self.bounds = bounds
        self.consumer = Consumer(kit, bounds.partitions)
        self.view = cache(self._view)
        self.seen: dict[World, tuple[World, str] | None] = {}
        self.ends = self.held_ends = 0

    def run(self, most: int = 3_000_000) -> int:
        """How many states there are. Raises Violation."""
        start = self._start()
        self.seen[start] = None
        stack = [start]
        while stack:
            world = stack.pop()
            ways = 0
            for name, then in self._ways(world):
                ways += 1
                if then not in self.seen:
                    self.seen[then] = (world, name)
                    self._check(world, then)
                    stack.append(then)
            if not ways or self._quiet(world):
                self._check_end(world)
            assert len(self.seen) <= most, "the bounds are too wide to be exhausted"
        return len(self.seen)

    def _start(self) -> World:
        b = self.bounds
        owners = ((0, None),) * (len(b.partitions) + 1)
        return World(
            0, owners, None, None, (), frozenset(), frozenset(), -1, 0, (), (), 0,
            b.crashes, b.failures, b.cancels, b.resends, b.sweeps,
            purges=b.purges, lows=(0,) * len(owners) if b.purges else (), losses=b.losses,
        )  # fmt: skip

    # What may happen next

    def _ways(self, w: World) -> Iterator[tuple[str, World]]:
        for number in range(len(w.owners)):
            yield from self._owner(w, number)
        if w.zombie is not None:
            for step in self._steps(w, w.zombie):
                yield f"old owner {step.name}", step.then._replace(zombie=step.doing)
            if w.crashes:
                yield "old owner DIES", w._replace(zombie=None, crashes=w.crashes - 1)
        yield from self._sweep(w)
        yield from self._restore(w)
        yield from self._purge(w) if self.bounds.purges else ()
        if self.consumer.buffers(w.ledger):
            yield "ten seconds pass", w._replace(ledger=self.consumer.buffer_over(w.ledger))
        yield from self._console(w)

    def _owner(self, w: World, number: int) -> Iterator[tuple[str, World]]:
        place, doing = w.owners[number]
        who = f"owner {number}"
        if doing is None:
            what = self._next(w, number, place)
            if what is None:
                return
            doing = self.consumer.begin(what)
            who = f"{who} takes {what!r}:"
        for step in self._steps(w, doing):
            then, name = step.then, f"{who} {step.name}"
            if step.dies:
                yield name, _begins(then, number, place)
                continue
            if step.doing is not None:
                yield name, then._replace(owners=_put(w.owners, number, (place, step.doing)))
                continue
            yield f"{name}, moves on", then._replace(owners=_put(w.owners, number, (place + 1, None)))
            if then.crashes:
                again = _begins(then, number, place)._replace(crashes=then.crashes - 1)
                yield f"{name}, DIES before it moves on", again
        if w.crashes:
            yield from self._dies(w, number, who, doing)

    def _dies(self, w: World, number: int, who: str, doing: Doing) -> Iterator[tuple[str, World]]:
        """The process of an owner ends, or loses its partition; or another begins with what was read already."""
        place = w.owners[number][0]
        fewer = w._replace(crashes=w.crashes - 1)
        if w.owners[number][1] is not None:
            yield f"{who} DIES", _begins(fewer, number, place)
            if self.bounds.zombies and w.zombie is None:
                gone = fewer._replace(owners=_put(w.owners, number, (place, None)))
                yield f"{who} loses its partition, runs on", gone._replace(zombie=doing)
        if place:
            yield f"{who} starts again at 0", _begins(fewer, number, 0)

    def _next(self, w: World, number: int, place: int) -> What:
        if number == len(w.owners) - 1:
            return w.replay[place] if place < len(w.replay) else None
        return (number, place) if place < len(self.consumer.partitions[number]) else None

    def _sweep(self, w: World) -> Iterator[tuple[str, World]]:
        if w.sweep is not None:
            for step in self._steps(w, w.sweep):
                yield f"outbox {step.name}", step.then._replace(sweep=step.doing)
            if w.crashes:
                yield "outbox DIES", w._replace(sweep=None, crashes=w.crashes - 1)
        elif self.consumer.due(w.ledger) and (w.sweeps or self._idle(w)):
            started = w._replace(sweep=self.consumer.begin(None), sweeps=max(0, w.sweeps - 1))
            yield "outbox is looked through", started

    def _steps(self, w: World, doing: Doing) -> Iterator[Step]:
        if doing.next in PUBLISHING and not self.bounds.fine:
            yield from self._publishing(w, doing)
            return
        choices = [""]
        if doing.next == "handler":
            choices = ["succeeds", "fails"] if w.failures else ["succeeds"]
        elif doing.next == "later":
            choices = [] if self.consumer.buffers(w.ledger) else ["again"]
        for choice in choices:
            done = self.consumer.step(w.ledger, doing, choice, w.now)
            then = self._after(w._replace(failures=w.failures - (choice == "fails")), done)
            said = "".join(f" {heard}" for heard in done.published)
            yield Step(f"{choice or doing.next}{said}", done.doing, then)

    def _publishing(self, w: World, doing: Doing) -> Iterator[Step]:
        """Coarse: all that is due is published in one step, or up to where the process dies."""
        name, next_one = "publishes", doing
        while True:
            done = self.consumer.step(w.ledger, next_one, "", w.now)
            w = self._after(w, done)
            name += "".join(f" {heard}" for heard in done.published)
            if done.doing is None or done.doing.next not in PUBLISHING:
                yield Step(name, done.doing, w)
                return
            next_one = done.doing
            if done.published and w.crashes:
                yield Step(f"{name}, DIES before it is forgotten", None, w._replace(crashes=w.crashes - 1), dies=True)

    def _after(self, w: World, done: Done) -> World:
        """What is published is read by the console at once (why that is enough: the docstring of this module)."""
        if done.ledger != w.ledger:
            gone = self._gone(w.ledger, done.ledger) if self.bounds.purges else frozenset()
            acted = max(w.acted, self._newest(done.ledger))
            w = w._replace(ledger=done.ledger, acted=acted, forgotten=w.forgotten | gone)
        for heard in done.published:
            w = self._read(w, heard)
        return w

    def _restore(self, w: World) -> Iterator[tuple[str, World]]:
        sources = list(enumerate(w.owners[:-1]))
        all_read = all(doing is None and self._next(w, n, place) is None for n, (place, doing) in sources)
        if w.backup is None and self.bounds.restores:
            if self.bounds.early or (all_read and self.view(w.ledger).quarantined):
                yield "BACKUP", w._replace(backup=w.ledger)
        working = w.zombie or w.sweep or w.purge or any(doing for _, doing in w.owners)
        if w.backup is not None and w.backup >= 0 and not working and w.backup != w.ledger:
            before = {fate.source for fate in self.view(w.backup).fates.values()}
            since = {event for event, fate in self.view(w.ledger).fates.items() if fate.source not in before}
            if not self.bounds.early or since <= dict(w.known).keys():
                forgotten = w.forgotten - before
                yield "RESTORE", w._replace(backup=PUT_BACK, ledger=w.backup, acted=0, forgotten=forgotten)
        if w.backup == PUT_BACK and not w.workers and w.token < self.bounds.tokens + self.bounds.early:
            token = w.token + 1
            orders = tuple(Order(names.HOLD, token, event, position) for event, position in sorted(w.known))
            workers = ((token, orders),) if orders else ()
            yield f"plan {token}: hold again", w._replace(token=token, backup=REPAIRED, workers=workers)

    def _purge(self, w: World) -> Iterator[tuple[str, World]]:
        """The purge, and what it waits for: that the topics have no more of what was decided and read."""
        lows = self._lows(w)
        if lows != w.lows:
            yield f"retention deletes up to {lows}", w._replace(lows=lows)
        if w.purge is not None:
            for step in self._steps(w, w.purge):
                yield f"purge {step.name}", step.then._replace(purge=step.doing)
        elif w.purges and not w.workers:  # an older plan that is sent later is one that `keep_days` has outlived
            doing = self.consumer.begin(Purging(w.now + AGE, self._places(w)))
            yield f"purge begins: {doing.what!r}", w._replace(purges=w.purges - 1, purge=doing, now=w.now + AGE)

    def _lows(self, w: World) -> tuple[int, ...]:
        """Where the partitions begin once all is deleted that may be."""
        decided = {fate.source for fate in self.view(w.ledger).fates.values()} | w.forgotten
        lows = [self._decided(decided, number) for number in range(len(w.owners) - 1)]
        return tuple(map(max, (*lows, w.owners[-1][0]), w.lows))

    def _decided(self, decided: Set[tuple[int, int]], number: int) -> int:
        """How many records the partition begins with of which each was decided: those may be deleted, none is lost."""
        return next(place for place in itertools.count() if (number, place) not in decided)

    def _places(self, w: World) -> tuple[tuple[int, int, int], ...]:
        """The partitions as Kafka tells of them; each ends, as early as it can be, with what somebody has read."""
        sources = [fate.source for fate in self.view(w.ledger).fates.values()] + [*w.forgotten]
        ends = [
            max(low, place + (doing is not None), *(at + 1 for n, at in [*sources, (number, -1)] if n == number))
            for number, ((place, doing), low) in enumerate(zip(w.owners, w.lows, strict=True))
        ]
        ends[-1] = len(w.replay)
        return tuple((low, end, place) for low, end, (place, _) in zip(w.lows, ends, w.owners, strict=True))

    @cache  # noqa: B019 -- lives as long as the search
    def _gone(self, before: int, after: int) -> frozenset[tuple[int, int]]:
        """The source records whose fates are not there any more."""
        was, now = self.view(before).fates, self.view(after).fates
        return frozenset(was[event].source for event in was.keys() - now.keys())

    def _idle(self, w: World) -> bool:
        """Nobody works and there is nothing to take."""
        return (
            w.zombie is None
            and w.sweep is None
            and w.purge is None
            and all(doing is None and self._next(w, n, place) is None for n, (place, doing) in enumerate(w.owners))
        )

    # The console: a model of the rules of intake and replay

    def _console(self, w: World) -> Iterator[tuple[str, World]]:
        for number, (token, orders) in enumerate(w.workers):
            rest = w.workers[:number] + w.workers[number + 1 :]
            left = (*rest, (token, orders[1:])) if len(orders) > 1 else rest
            yield f"worker {token} sends {orders[0]}", w._replace(workers=left, replay=(*w.replay, orders[0]))
            if w.cancels:
                yield f"worker {token} is cancelled", w._replace(workers=rest, cancels=w.cancels - 1)
        if w.known and not self._released(w) and w.token < self._tokens(w):
            if self.bounds.together or not w.workers:
                for decision in self.bounds.plans:
                    yield f"plan {w.token + 1}: {decision} the first", self._plan(w, decision)
        if w.losses and w.replay:
            yield "parking topic loses the next release", w._replace(losses=w.losses - 1, losing=True)
        for order in {o for o in w.replay if o.token == w.token} if w.resends else ():
            yield f"console sends {order} again", w._replace(replay=(*w.replay, order), resends=w.resends - 1)

    def _read(self, w: World, heard: Parked | Answer) -> World:
        if isinstance(heard, Parked):
            new = heard.event not in dict(w.known)
            released = w.released if self.bounds.positions else -1
            return w._replace(known=w.known | {(heard.event, heard.position)}, released=released) if new else w
        if heard.outcome in names.FACTS:
            fact = (heard.outcome, heard.fate_token or 0, heard.fingerprint or b"")
            return w._replace(facts=w.facts | {(heard.event, fact)}) if heard.event not in dict(w.facts) else w
        if heard.outcome == names.RELEASED and w.losing:
            return w._replace(losing=False, lost=True)
        if heard.outcome == names.RELEASED:
            position = heard.position if self.bounds.positions else 1_000
            return w._replace(released=max(w.released, position or 0), lost=False)
        w = self._return(w, heard)
        if heard.token != w.token:
            return w
        sending = any(token == w.token for token, _ in w.workers)
        if heard.outcome in STOPS:
            return w._replace(workers=tuple(one for one in w.workers if one[0] != w.token))
        if heard.outcome == names.STILL_HELD and self.bounds.follows and not sending and w.token not in w.followed:
            orders = self._orders(w, w.token, "apply")
            return w._replace(followed=(*w.followed, w.token), workers=(*w.workers, (w.token, orders)))
        return w

    def _return(self, w: World, heard: Answer) -> World:
        """What a newer token finds held is parked again: the ledger was restored to an older time."""
        named = (heard.event,) if heard.outcome == names.HELD else heard.still_held
        back = {(event, fact) for event, fact in w.facts if event in named and fact[1] < heard.token}
        return w._replace(facts=w.facts - back) if back else w

    def _tokens(self, w: World) -> int:
        """How many plans there may be: if early, always one that holds again and one after it."""
        return self.bounds.tokens + (2 if self.bounds.early and w.backup == REPAIRED else 0)

    def _plan(self, w: World, decision: str) -> World:
        token = w.token + 1
        return w._replace(token=token, workers=(*w.workers, (token, self._orders(w, token, decision))))

    def _orders(self, w: World, token: int, decision: str) -> tuple[Order, ...]:
        facts = dict(w.facts)
        todo = [event for _, event in sorted((position, event) for event, position in w.known) if event not in facts]
        orders = [Order("apply" if place else decision, token, event) for place, event in enumerate(todo)]
        return (*(orders[1:] if decision == "miss" else orders), Order("release", token))

    def _released(self, w: World) -> bool:
        facts = dict(w.facts)
        return all(event in facts and position < w.released for event, position in w.known)

    # What must hold

    def _view(self, number: int) -> View:
        holds, fates, _, effects, *_ = self.consumer.state(number)
        hold = dict(zip(HOLD, holds[0], strict=False)) if holds else {"quarantined": 0, "floor": 0}
        columns = [row[1] for row in self._columns()]
        found = {}
        for row in fates:
            fate = dict(zip(columns, row, strict=True))
            source = (fate["source_partition"], fate["source_offset"])
            found[fate["event_id"].decode()] = Fate(
                fate["state"], fate["position"], fate["token"], fate["fingerprint"], source
            )
        ids, values = [row[0] for row in effects], [row[1].removeprefix(AMENDED) for row in effects]
        return View(bool(hold["quarantined"]), int(hold["floor"]), found, ids, values)

    @cache  # noqa: B019 -- lives as long as the search
    def _columns(self) -> list[Any]:
        connection = self.consumer._database.connection
        return connection.execute("PRAGMA table_info(siding_fate)").fetchall()

    @cache  # noqa: B019
    def _newest(self, number: int) -> int:
        """The highest token that has acted, by the ledger."""
        view = self.view(number)
        return max([view.floor, *(fate.token for fate in view.fates.values())])

    def _check(self, before: World, after: World) -> None:
        if before.ledger == after.ledger or before.backup != after.backup:
            return
        problem = self._problem(before.ledger, after.ledger, before.acted, after.forgotten)
        if problem:
            self._fail(problem, after)

    @cache  # noqa: B019
    def _problem(self, before: int, after: int, acted: int, forgotten: frozenset[tuple[int, int]]) -> str:
        was, now = self.view(before), self.view(after)
        ids = [] if forgotten else now.effects  # an event that comes with an id that is forgotten is a new one
        if len(ids) != len(set(ids)) or len(now.values) != len(set(now.values)):
            return f"an effect twice: {now.effects}"
        applied = [event for event, fate in now.fates.items() if fate.state == "applied"]
        if sorted(now.effects) != sorted(applied) and not forgotten:
            return "effects and fates differ"
        if set(now.effects) - set(was.effects) - set(applied) or set(applied) - set(now.effects):
            return "effects and fates differ"
        if not now.quarantined and any(fate.state == "held" for fate in now.fates.values()):
            return "open with something held"
        for event, fate in now.fates.items():
            if fate != was.fates.get(event):
                problem = self._changed(event, was, now, acted, forgotten)
                if problem:
                    return problem
        return ""

    def _changed(self, event: str, was: View, now: View, acted: int, forgotten: frozenset[tuple[int, int]]) -> str:
        before, fate = was.fates.get(event), now.fates[event]
        if before is not None and before.state != "held":
            return f"{event} changed after it was settled"
        if fate.token and fate.token < acted:
            return f"an old plan acted: {fate.token}, after {acted}"
        if fate.state == "held":
            return ""
        waiting = [f.position or 0 for f in was.fates.values() if f.state == "held"]
        if before is not None and before.position != min(waiting):
            return f"{event} overtook what was held before it"
        if before is None and was.quarantined:
            return f"{event} took effect live in a quarantined key"
        partition, place = fate.source
        settled = {f.source for f in now.fates.values() if f.state != "held"} | forgotten
        if any((partition, earlier) not in settled for earlier in range(place)):
            return f"{event} overtook an earlier event of its partition"
        return ""

    def _quiet(self, w: World) -> bool:
        return self._idle(w) and not w.workers and not self.consumer.due(w.ledger)

    def _check_end(self, w: World) -> None:
        if not self._quiet(w):
            return
        self.ends += 1
        if w.backup == PUT_BACK:
            return  # nobody has noticed yet
        view = self.view(w.ledger)
        self.held_ends += view.quarantined
        known = dict(w.known)
        held = {event for event, fate in view.fates.items() if fate.state == "held"}
        records = {(n, place) for n, records in enumerate(self.consumer.partitions) for place in range(len(records))}
        if records != {fate.source for fate in view.fates.values()} | w.forgotten:
            self._fail(f"lost: only {sorted(view.fates)} have a fate", w)
        if held - known.keys():
            self._fail(f"the console never heard of {held - known.keys()}", w)
        forgot_the_release = w.backup == REPAIRED and not held  # the next event of the key is held, and tells of it
        if view.quarantined and known and self._released(w) and not forgot_the_release:
            self._fail("the console calls it released, the consumer holds it", w)
        may_ask = self.bounds.early and w.token < self._tokens(w)
        if not view.quarantined and not self._released(w) and not w.lost and not may_ask:
            self._fail("phantom: the consumer holds nothing, the console does", w)
        self._check_facts(w, view)

    def _check_facts(self, w: World, view: View) -> None:
        for event, fact in w.facts:
            fate = view.fates.get(event)
            if fate is None and w.forgotten:
                continue
            assert fate is not None, event
            same = fact == (fate.state, fate.token, fate.fingerprint)
            if w.backup == REPAIRED:  # a record of a plan that the old ledger had fenced may have acted again
                same = (fact[0], fact[2]) == (fate.state, fate.fingerprint)
            if not same:
                self._fail(f"the console's fact of {event} is not the ledger's", w)

    def _fail(self, problem: str, w: World) -> None:
        story: list[str] = []
        step = self.seen[w]
        while step is not None:
            story.append(step[1])
            step = self.seen[step[0]]
        raise Violation("\n  ".join([problem, *reversed(story)]))


def _begins(w: World, number: int, place: int) -> World:
    """Somebody new has the partition, and begins there: or where it begins, if that is later."""
    place = max(place, w.lows[number]) if w.lows else place
    return w._replace(owners=_put(w.owners, number, (place, None)))


def _put(owners: tuple[Any, ...], number: int, owner: tuple[int, Doing | None]) -> tuple[Any, ...]:
    return (*owners[:number], owner, *owners[number + 1 :])
