"""Which record starts next: order per key, never two of one key, limits, and how far may be committed. No threads."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from parking.consumer.schedule import Place, Schedule, Ticket

P, Q, R = ("s", 0), ("s", 1), ("r", 0)


def schedule(*places: Place, per_partition: int = 3, overall: int = 10) -> Schedule:
    made = Schedule(per_partition=per_partition, overall=overall)
    for place in places or (P, Q, R):
        made.assign(place)
    return made


def fill(made: Schedule, place: Place, keys: str, first: int = 0) -> None:
    for offset, key in enumerate(keys, first):
        made.add(place, offset, key.encode(), f"{place[0]}{place[1]}#{offset}", now=float(offset))


def started(made: Schedule, now: float = 0.0) -> list[Ticket]:
    tickets = []
    while (ticket := made.take(now)) is not None:
        tickets.append(ticket)
    return tickets


def tasks(tickets: list[Ticket]) -> list[Any]:
    return [ticket.task for ticket in tickets]


def test_keys_go_side_by_side_and_one_key_in_order() -> None:
    made = schedule(P)
    fill(made, P, "aabac")
    first, other, third = started(made)
    assert tasks([first, other, third]) == ["s0#0", "s0#2", "s0#4"]
    made.finish(first)
    (second,) = started(made)
    assert second.task == "s0#1"


def test_limits_of_a_partition_and_of_all() -> None:
    made = schedule(P, Q, per_partition=2, overall=3)
    fill(made, P, "abcd")
    fill(made, Q, "efgh")
    tickets = started(made)
    assert tasks(tickets) == ["s0#0", "s1#0", "s0#1"], "in turn, so that no partition starves another"
    made.finish(tickets[0])
    assert tasks(started(made)) == ["s1#1"]


def test_one_key_of_two_partitions_is_never_at_work_twice() -> None:
    made = schedule(P, R)
    fill(made, P, "ab")
    fill(made, R, "ac")
    tickets = started(made)
    assert tasks(tickets) == ["s0#0", "r0#1", "s0#1"]
    made.finish(tickets[0])
    assert tasks(started(made)) == ["r0#0"]


def test_who_waits_keeps_its_place_and_holds_up_only_its_own_line() -> None:
    made = schedule(P, R)
    fill(made, P, "aab")
    fill(made, R, "a")
    waiting, other = made.take(0), made.take(0)
    assert waiting is not None
    assert other is not None
    assert tasks([waiting, other]) == ["s0#0", "s0#2"]
    made.later(waiting, 5.0)
    (replayed,) = started(made)
    assert replayed.task == "r0#0", "a replay record of the key goes on: it may be what the waiting one waits for"
    assert made.due() == 5.0
    assert started(made, 5.0) == [], "but not both at once"
    made.finish(replayed)
    assert tasks(started(made, 5.0)) == ["s0#0"]


def test_nothing_of_its_key_overtakes_who_waits() -> None:
    made = schedule(P)
    fill(made, P, "aab")
    waiting = made.take(0)
    assert waiting is not None
    made.later(waiting, 5.0)
    assert tasks(started(made, 1.0)) == ["s0#2"]
    assert tasks(started(made, 5.0)) == ["s0#0"]


def test_only_the_finished_beginning_is_committed() -> None:
    made = schedule(P)
    fill(made, P, "abc", first=7)
    assert made.positions() == {P: 7}
    a, b, c = started(made)
    made.finish(c)
    made.finish(b)
    assert made.positions() == {P: 7}
    made.finish(a)
    assert made.positions() == {P: 10}


def test_holes_are_committed_past() -> None:
    """Transaction markers and compacted records have offsets, but no record."""
    made = schedule(P)
    made.add(P, 4, b"a", "x", now=0)
    made.add(P, 9, b"b", "y", now=0)
    x, y = started(made)
    made.finish(x)
    assert made.positions() == {P: 9}
    made.reached(P, 12)
    assert made.positions() == {P: 9}, "not past what is unfinished"
    made.finish(y)
    assert made.positions() == {P: 12}


def test_nothing_is_known_of_a_partition_that_was_never_read() -> None:
    assert schedule(P).positions() == {}


def test_a_shut_partition_lets_end_what_runs() -> None:
    made = schedule(P, Q)
    fill(made, P, "ab")
    fill(made, Q, "c")
    running = made.take(0)
    assert running is not None
    made.shut(P)
    assert tasks(started(made)) == ["s1#0"]
    made.finish(running)
    assert started(made) == []
    assert (made.positions()[P], made.at_work(P)) == (1, 0)
    assert tasks([*made.forget(P)]) == ["s0#1"]
    made.assign(P)
    fill(made, P, "b", first=1)
    assert tasks(started(made)) == ["s0#1"], "whoever has it anew begins anew"


def test_a_late_result_of_a_lost_partition_moves_nothing() -> None:
    made = schedule(P, per_partition=2)
    fill(made, P, "aab")
    late, waiting = made.take(0), made.take(0)
    assert late is not None
    assert waiting is not None
    made.later(waiting, 3.0)
    made.forget(P)
    assert made.positions() == {}
    made.assign(P)
    fill(made, P, "a")
    assert started(made, 9.0) == [], "its key is still at work, and what waited is forgotten"
    made.finish(late)
    assert made.positions() == {P: 0}
    (again,) = started(made)
    made.finish(again)
    assert made.positions() == {P: 1}
    assert made.due() is None


def test_records_of_partitions_that_are_not_ours_are_ignored() -> None:
    made = schedule(P)
    fill(made, Q, "a")
    assert (started(made), made.positions(), made.backlog(Q)) == ([], {}, (0, 0, 0))


def test_the_backlog_counts_what_is_read_and_unfinished() -> None:
    made = schedule(P)
    made.add(P, 0, b"a", "x", now=1.0, size=10)
    made.add(P, 1, b"a", "y", now=2.0, size=5)
    assert (made.backlog(P), made.oldest()) == ((2, 15, 2), 1.0)
    (ticket,) = started(made)
    made.finish(ticket)
    assert (made.backlog(P), made.oldest()) == ((1, 5, 1), 2.0)


def test_what_is_finished_behind_an_unfinished_record_is_still_kept() -> None:
    made = schedule(P)
    fill(made, P, "abc")
    first, second, third = started(made)
    made.finish(second)
    made.finish(third)
    assert made.backlog(P) == (1, 0, 3)
    made.finish(first)
    assert made.backlog(P) == (0, 0, 0)


@dataclass
class Seen:
    """What an observer knows of one record."""

    place: Place
    offset: int
    key: bytes
    life: int
    started: bool = False
    finished: bool = False


@dataclass
class Observed:
    records: list[Seen] = field(default_factory=list)
    running: dict[Ticket, Seen] = field(default_factory=dict)
    shut: set[Place] = field(default_factory=set)


class AnySchedule(RuleBasedStateMachine):
    """Whatever happens, in whatever order: the promises hold after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.made = Schedule(per_partition=2, overall=4)
        self.lives: dict[Place, int] = {}
        self.offsets: dict[Place, int] = {}
        self.observed = Observed()
        self.now = 0.0

    places = st.sampled_from([P, Q, R])

    @rule(place=places)
    def assign(self, place: Place) -> None:
        self.made.assign(place)
        self.lives[place] = self.lives.get(place, 0) + 1
        self.offsets[place] = 0
        self.observed.shut.discard(place)

    @rule(place=places)
    def lose(self, place: Place) -> None:
        idle = self.made.forget(place)
        running = set(map(id, self.observed.running.values()))
        own = [seen for seen in self.observed.records if (seen.place, seen.life) == (place, self.lives.get(place))]
        if place in self.offsets:
            assert tasks(idle) == [seen for seen in own if not seen.finished and id(seen) not in running]
        self.offsets.pop(place, None)

    @rule(place=places, key=st.sampled_from([b"a", b"b", b"c"]), hole=st.integers(0, 2))
    def read(self, place: Place, key: bytes, hole: int) -> None:
        if place not in self.offsets:
            return
        seen = Seen(place, self.offsets[place] + hole, key, self.lives[place])
        self.made.add(place, seen.offset, key, seen, now=self.now)
        self.offsets[place] = seen.offset + 1
        self.observed.records.append(seen)

    @rule()
    def take(self) -> None:
        ticket = self.made.take(self.now)
        if ticket is None:
            return
        seen: Any = ticket.task
        assert seen.life == self.lives[seen.place], "of a former life"
        assert seen.place in self.offsets, "not ours"
        assert seen.place not in self.observed.shut, "shut"
        assert seen.key not in {other.key for other in self.observed.running.values()}, "two of one key"
        for other in self.observed.records:
            same = (other.place, other.life, other.key) == (seen.place, seen.life, seen.key)
            assert not same or other.offset >= seen.offset or other.finished, "overtook an earlier one of its key"
        assert len(self.observed.running) < 4
        assert (
            sum(other.place == seen.place and other.life == seen.life for other in self.observed.running.values()) < 2
        )
        self.observed.running[ticket] = seen

    @precondition(lambda self: self.observed.running)
    @rule(pick=st.randoms(use_true_random=False), later=st.booleans())
    def end(self, pick: Any, later: bool) -> None:
        ticket = pick.choice(list(self.observed.running))
        seen = self.observed.running.pop(ticket)
        if later:
            self.made.later(ticket, self.now + 2)
        else:
            seen.finished = True
            self.made.finish(ticket)

    @rule(place=places)
    def shut(self, place: Place) -> None:
        self.made.shut(place)
        self.observed.shut.add(place)

    @rule()
    def time_passes(self) -> None:
        self.now += 1

    @invariant()
    def positions_are_the_finished_beginning(self) -> None:
        for place, position in self.made.positions().items():
            own = [seen for seen in self.observed.records if (seen.place, seen.life) == (place, self.lives[place])]
            assert all(seen.finished for seen in own if seen.offset < position)
            assert position == next((seen.offset for seen in own if not seen.finished), self.offsets[place])

    def teardown(self) -> None:
        """In the end everything that is still ours is finished: nothing starves, nothing is forgotten."""
        for _ in range(10_000):
            self.now += 1
            self.take()
            if self.observed.running:
                ticket, seen = self.observed.running.popitem()
                seen.finished = True
                self.made.finish(ticket)
            elif self.made.due() is None and self.made.take(self.now) is None:
                break
        for seen in self.observed.records:
            ours = seen.place in self.offsets and seen.life == self.lives[seen.place]
            assert seen.finished or not ours or seen.place in self.observed.shut


TestAnySchedule = AnySchedule.TestCase


@given(st.lists(st.sampled_from("abcdef"), max_size=60), st.integers(1, 4), st.integers(1, 8))
def test_as_many_run_as_the_limits_and_the_keys_allow(keys: list[str], per_partition: int, overall: int) -> None:
    made = schedule(P, per_partition=per_partition, overall=overall)
    fill(made, P, "".join(keys))
    assert len(started(made)) == min(len(set(keys)), per_partition, overall)
