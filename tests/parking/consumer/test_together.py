"""Group commit: events share a transaction, and nobody's failure is another's."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.transaction import Transaction
from parking.consumer.together import MOST, Together, _Waiting


class Counted:
    """A ledger that counts its transactions."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger, self.count = ledger, 0

    def transaction(self, flow: str, *, write: bool = True) -> Any:
        self.count += 1
        return self.ledger.transaction(flow, write=write)


def together(ledger: Ledger, *calls: Callable[[Transaction], bool]) -> tuple[list[Any], int]:
    """What each call gave or raised, when all came while a transaction was under way; and how many transactions."""
    counted = Counted(ledger)
    group = Together("f", counted)  # type: ignore[arg-type]
    answers: list[Any] = [None] * len(calls)
    busy, go_on = threading.Event(), threading.Event()

    def first(transaction: Transaction) -> bool:
        busy.set()
        return go_on.wait(60)

    def run(n: int) -> None:
        try:
            answers[n] = group.commit(calls[n])
        except Exception as error:
            answers[n] = error

    threads = [threading.Thread(target=group.commit, args=[first])]
    threads[0].start()
    assert busy.wait(60)
    for n in range(len(calls)):
        threads.append(threading.Thread(target=run, args=[n]))
        threads[-1].start()
        while len(group._waiting) <= n:
            time.sleep(0.001)
    go_on.set()
    for thread in threads:
        thread.join(60)
    return answers, counted.count


def effect(value: str, *, applies: bool = True) -> Callable[[Transaction], bool]:
    def apply(transaction: Transaction) -> bool:
        if applies:
            transaction.connection.execute(f"INSERT INTO effect VALUES ('{value}', 'v', 0)")
        return applies

    return apply


def broken(transaction: Transaction) -> bool:
    transaction.connection.execute("INSERT INTO effect VALUES ('half', 'v', 0)")
    transaction.connection.execute("INSERT INTO effect VALUES (NULL, 'v', 0)")
    return True


def effects(ledger: Ledger) -> list[str]:
    with ledger.transaction("", write=False) as transaction:
        return sorted(row[0] for row in transaction.connection.execute("SELECT event_id FROM effect").fetchall())


def test_what_is_ready_at_the_same_time_shares_one_transaction(ledger: Ledger) -> None:
    answers, transactions = together(ledger, effect("a"), effect("b", applies=False), effect("c"))
    assert answers == [True, False, True]
    assert transactions == 2
    assert effects(ledger) == ["a", "c"]


def test_one_that_fails_takes_nobody_with_it(ledger: Ledger) -> None:
    answers, _ = together(ledger, effect("a"), broken, effect("c"))
    assert (answers[0], answers[2]) == (True, True)
    assert "null" in str(answers[1]).lower()
    assert effects(ledger) == ["a", "c"], "each once, and nothing of the one that failed"


def test_who_waits_behind_a_full_transaction_goes_once_all_the_same(ledger: Ledger) -> None:
    group = Together("f", ledger)
    group._waiting += [_Waiting(effect(f"e{n:03}")) for n in range(MOST)]
    assert group.commit(effect("mine"))
    assert group._waiting == []
    assert group.commit(effect("next"))
    assert effects(ledger) == [*(f"e{n:03}" for n in range(MOST)), "mine", "next"]


@pytest.mark.parametrize("times", [3])
def test_alone_it_is_as_it_was(ledger: Ledger, times: int) -> None:
    group = Together("f", ledger)
    assert [group.commit(effect(f"e{n}")) for n in range(times)] == [True] * times
    with pytest.raises(Exception, match=r"(?i)null"):
        group.commit(broken)
    assert effects(ledger) == ["e0", "e1", "e2"]
