"""Every interleaving of the gate within bounds, on the real code of gate, ledger, outbox and process (DESIGN, 4).

Two owners of one key (source here, replay there), handlers that are not atomic, an old owner that runs on after a
rebalance, crashes around each commit and each publish, re-delivery, two source partitions for one key, two plans with
different decisions, cancel at every point, markers and steps that are sent again, failures during a replay, live events
meanwhile, another event under a known id, a ledger put back to an older time, a purge behind topics that delete what
was read, a lost release. The database is SQLite in memory. The console is a model of the rules of intake and replay
(the real ones need PostgreSQL; `test_loop.py` has them).
"""

from pathlib import Path

import pytest

from tests.consumer.model.kit import Kit, Without, without
from tests.consumer.model.search import Bounds, Search, Violation

pytestmark = pytest.mark.slow

ONE, TWO = (("a", "b"),), (("a",), ("b",))
BOUNDS = {
    "two plans, an old owner": Bounds(ONE, tokens=2, crashes=1, zombies=True, plans=("apply", "skip")),
    "two plans at once": Bounds(ONE, tokens=2, together=True, plans=("apply", "amend")),
    "two plans at once, a crash": Bounds(ONE, tokens=2, together=True, crashes=1, plans=("apply", "skip")),
    "a plan that misses the first": Bounds(ONE, tokens=2, crashes=1, plans=("miss", "apply")),
    "failures in two replays": Bounds(ONE, tokens=2, crashes=1, failures=2),
    "live events meanwhile": Bounds((("a", "b", "c"),), crashes=1, failures=2, zombies=True),
    "two partitions, an old owner": Bounds(TWO, crashes=1, failures=2, zombies=True),
    "two partitions, cancelled and sent again": Bounds(TWO, tokens=2, cancels=1, resends=1),
    "two partitions, failures, sent again": Bounds(TWO, tokens=2, failures=2, resends=1),
    "two partitions, three events": Bounds((("a", "b"), ("c",)), tokens=2),
    "two partitions, three events, cancelled": Bounds((("a", "b"), ("c",)), cancels=1),
    "a restored ledger, held again": Bounds(ONE, tokens=3, restores=1),
    "another event wears the id": Bounds((("a", "a=other", "b"),), crashes=1, zombies=True),
    "a purge, a lost release": Bounds((("a",),), tokens=2, purges=2, losses=1),
    "a purge, a record at hand": Bounds((("a",),), crashes=1, purges=2),
    "a purge, another event wears the id": Bounds((("a", "a=other"),), failures=0, crashes=1, purges=2),
    "a ledger from before the quarantine": Bounds((("a",),), crashes=1, restores=1, early=True),
    "each step of publishing": Bounds(ONE, fine=True, sweeps=1),
    "each step of publishing, a crash": Bounds(ONE, crashes=1, fine=True),
    "each step of publishing, an old owner": Bounds((("a",),), crashes=1, fine=True, sweeps=1, zombies=True),
    "each step of publishing, sent again": Bounds(TWO, fine=True, resends=1),
}

LOOKED_AGAIN = '''"""The commit gate of a success: the rules again, then fate and business write in one transaction."""
        with self._ledger.transaction(self._flow.name) as transaction:
            hold, found = '''
FLOOR = """    if command.token < key.floor:
        return Answer(names.FENCED, fate)
    if not key.quarantined"""
DUE = "return [Due("
RULES = "ledger/rules.py"
TAKEN_AWAY = [
    (
        Without("lock", "source_gate.py", "if met[0] is Source.HOLD:\n                hold, held",
                "if met[1] is None:\n                met = Source.HOLD, None\n                hold, held"),
        "two partitions, an old owner",
        "open with something held",
    ),
    (
        Without("second_look_of_the_source", "ledger/transaction.py", "execute(statements.INSERT_FATE_IF_OPEN,",
                "execute(statements.INSERT_FATE,"),
        "two partitions, an old owner",
        "took effect live in a quarantined key",
    ),
    (
        Without("second_look_of_the_replay", "replay_gate.py", f"{LOOKED_AGAIN}self._rules(transaction, command)",
                f"{LOOKED_AGAIN}transaction.lock(KEY), transaction.fate(command.event_id)".replace(
                    "KEY", "command.hold_key")),
        "two plans, an old owner",
        "an effect twice|changed after it was settled",
    ),
    (
        Without("floor", RULES, FLOOR, FLOOR.replace("< key.floor", "< 0")),
        "two plans at once",
        "an old plan acted",
    ),
    (
        Without("head_rule", RULES, "first is None or first.event_id != fate.event_id", "first is None"),
        "a plan that misses the first",
        "overtook",
    ),
    (
        Without("release_check", RULES, "    if held:\n", "    if held < 0:\n"),
        "live events meanwhile",
        "open with something held",
    ),
    (
        Without("outbox", "ledger/transaction.py", DUE, f"[self.published(row[0]) for row in rows]\n        {DUE}"),
        "each step of publishing, an old owner",
        "the console never heard of|phantom",
    ),
    (
        Without("id_conflict", RULES, "return Source.KNOWN if same else Source.CONFLICT", "return Source.KNOWN"),
        "another event wears the id",
        "overtook|lost",
    ),
    (
        Without("forgotten_position", "ledger/transaction.py", "position = max(int(row[0]) for row in gone)",
                "position = 0"),
        "a purge, a lost release",
        "phantom",
    ),
    (
        Without("committed_offset", "edge.py", "min(place.begin, place.committed)", "place.begin"),
        "a purge, a record at hand",
        "an effect twice",
    ),
    (
        Without("worn_id", RULES, "    if worn:", "    if worn and fate:"),
        "a purge, another event wears the id",
        "an effect twice",
    ),
    (
        Without("position_of_what_is_settled", "replay_gate.py", "elif answer.outcome in names.FACTS:", "elif False:"),
        "a ledger from before the quarantine",
        "phantom",
    ),
]  # fmt: skip


@pytest.mark.parametrize("name", BOUNDS)
def test_no_interleaving_breaks_the_gate(name: str) -> None:
    """Order per key, no effect twice, nothing lost, no old plan after a newer one, no phantom, the facts agree."""
    search = Search(Kit(), BOUNDS[name])
    states = search.run()
    print(f"{name}: {states} states, {search.ends} ends, {search.consumer.steps_run} different steps of the real code")
    assert search.ends > 5, "the search is to come to different ends"


@pytest.mark.parametrize(("rule", "name", "says"), TAKEN_AWAY, ids=[rule.name for rule, _, _ in TAKEN_AWAY])
def test_each_rule_is_needed(rule: Without, name: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(Violation, match=says):
        Search(without(rule, tmp_path), BOUNDS[name]).run()


def test_the_released_position_is_needed() -> None:
    """A console that takes any `released` for the end of what it knows is told of an old release by a marker that was
    sent again, and believes a newer quarantine to be over."""
    bounds = Bounds(TWO, tokens=2, failures=2, cancels=1, resends=1, positions=False)
    with pytest.raises(Violation, match="the console calls it released, the consumer holds it"):
        Search(Kit(), bounds).run()


def test_a_rule_that_stands_elsewhere_now_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="stands 0 times"):
        without(Without("nothing", RULES, "no such text", ""), tmp_path)
