"""The last hours of the gated flow: in a demo its running service brings them, in pictures there is none."""

from collections.abc import Callable
from datetime import datetime, timedelta

from console.demo.life import disputes
from console.demo.life.arrivals import milliseconds
from console.demo.life.cases import Case
from console.demo.life.history import History
from console.demo.life.people import People
from console.demo.life.play import Player
from parking.coordinates import Coordinates
from parking.record import Record
from parking.wire import StillHeld, announcement

HOURS_AGO = 3 * 60 + 12  # minutes
LATER = (
    (0.7, "EvidenceAdded"), (0.75, "EvidenceAdded"), (9.0, "RefundRequested"), (62.0, "RefundRequested"),
    (170.0, "AccountClosed"),
)  # fmt: skip
"""What is held behind the first event of a key, minutes later. Between them another one fails."""


class Present:
    """Keys that are stopped now, in every state that a key can be in."""

    def __init__(
        self, history: History, making: disputes.Disputes, people: People, player: Player, now: datetime
    ) -> None:
        self._history, self._disputes, self._people, self._player, self._now = history, making, people, player, now

    def bring(self) -> None:
        decided = self._long("acc-20417", ago=HOURS_AGO)
        self._decided(decided, ago=12)
        self._unseen(decided)
        self._short("acc-20433", disputes.amount_as_text, ago=21, behind=1)
        self._short("acc-20388", disputes.after_closing, ago=44)
        self._short("acc-20511", disputes.model_silent, ago=9)
        self._short("acc-20452", disputes.fax, ago=66, behind=1)
        self._waits(self._long("acc-20466", ago=67))
        self._moves(self._long("acc-20418", ago=84))
        self._fails(self._long("acc-20421", ago=118))

    def _long(self, account: str, *, ago: float) -> Case:
        """Two poison events and five held ones."""
        case, share = Case(disputes.FLOW, account.encode()), ago / HOURS_AGO
        self._disputes.fail(case, self._ago(ago), disputes.amount_as_text)
        for number, (minutes, event_type) in enumerate(LATER):
            if number == 2:
                self._disputes.fail(case, self._ago(ago - 6 * share), disputes.no_limit)
            self._disputes.hold(case, self._ago(ago - minutes * share), event_type)
        return self._history.park(case)

    def _short(self, account: str, trouble: disputes.Make, *, ago: float, behind: int = 0) -> None:
        case = Case(disputes.FLOW, account.encode())
        self._disputes.fail(case, self._ago(ago), trouble)
        for number in range(behind):
            self._disputes.hold(case, self._ago(ago - 7 * (number + 1)), "EvidenceAdded")
        self._history.park(case)

    def _decided(self, case: Case, *, ago: float) -> None:
        self._do(ago, lambda: self._people.decide(case))

    def _asked(self, case: Case, *, ago: float) -> None:
        self._do(ago, lambda: self._people.request(case, "minor units fixed, reason from the case file"))

    def _approved(self, case: Case, *, ago: float) -> None:
        self._do(ago, lambda: self._people.approve(case, "Checked the case file; amounts match the ledger."))

    def _waits(self, case: Case) -> None:
        self._decided(case, ago=15)
        self._asked(case, ago=4)

    def _moves(self, case: Case) -> None:
        self._decided(case, ago=9)
        self._asked(case, ago=7)
        self._approved(case, ago=1)
        self._do(0.05, lambda: self._player.begin(case, answered=4))

    def _fails(self, case: Case) -> None:
        self._decided(case, ago=50)
        self._asked(case, ago=41)
        self._approved(case, ago=34)
        self._do(33.9, lambda: self._player.play(case, fails_at=3))

    def _unseen(self, case: Case) -> None:
        """The consumer holds one more event of the key, whose record has not arrived yet."""
        at = milliseconds(self._ago(HOURS_AGO - 8))
        before = announcement.decode(Record(disputes.FLOW, 0, 0, at, *case.events[3].wire)).source
        source = Coordinates(before.topic, before.partition, before.offset + 1, at)
        unseen = StillHeld("evt-5b1f0c92d4e83a67", at, "held", source)
        self._history.parked.append(
            disputes.answer(
                "still-held", case.key, self._ago(1), token=at, held_count=len(case.events) + 1, still_held=(unseen,)
            )
        )

    def _do(self, ago: float, deed: Callable[[], object]) -> None:
        self._history.do(self._ago(ago), deed)

    def _ago(self, minutes: float) -> datetime:
        return self._now - timedelta(minutes=minutes)
