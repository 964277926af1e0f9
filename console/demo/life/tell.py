"""What happens when in the two weeks, and that it does, in order of time."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.db import transaction

from console.demo.life import arrivals, disputes, invoices
from console.demo.life.alarms import Alarms
from console.demo.life.arrivals import Arrivals, Parked
from console.demo.life.cases import Case
from console.demo.life.clock import Clock, ruling
from console.demo.life.history import Deed, History
from console.demo.life.kafka import asked_once
from console.demo.life.people import People
from console.demo.life.play import Player
from console.demo.life.present import Present
from parking.actor import Actor
from parking.errors import Refused
from parking.models import Flow

DAYS = 14
FLOWS = ("disputes", "invoices-eu", "shipments")
BATCH = 500
SOME_EVENTS = 1_000
EVERYDAY = 24
"""Keys whose whole life is told; of the others only what intake sees of it."""
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
WITHIN_A_DAY = (2, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 9, 11, 12, 12, 11, 9, 7, 5, 4, 4, 3, 2)
"""How much goes wrong in each hour of the day (UTC)."""


def tell(
    *,
    actors: Mapping[str, Actor],
    now: datetime,
    seed: int = 1,
    events: int = SOME_EVENTS,
    waiting: int = 0,
    present: bool = False,
) -> int:
    """Write the history that ends at `now`: about so many parked events, of them at least `waiting` unsettled.

    `present` adds what the running services of a demo would bring: keys that are stopped, moving and waiting right now.
    `actors` are oncall, reviewer and owner. One transaction; returns how many events there are. Raises Refused where a
    flow is missing, or anything was parked before: history comes first.
    """
    known = list(Flow.objects.filter(name__in=FLOWS).select_related("cluster", "team"))
    if len(known) != len(FLOWS):
        raise Refused(f"The flows {', '.join(FLOWS)} were expected: declare them first (manage.py flows).")
    if arrivals.begun(known):
        raise Refused("These flows have been read already: history can only be written before anything else.")
    clock = Clock(now - DAYS * DAY)
    with ruling(clock), asked_once(), transaction.atomic():
        teller = Teller(known, actors, clock, now=now, seed=seed)
        told = teller.told(events, waiting, present=present)
        arrivals.go_on(known)
    return told


class Teller:
    def __init__(
        self, known: list[Flow], actors: Mapping[str, Actor], clock: Clock, *, now: datetime, seed: int
    ) -> None:
        self._random = Random(seed)  # noqa: S311 - made-up data
        self._clock, self._now = clock, now
        self._arrivals = Arrivals(known)
        self._people, self._player = People(actors), Player(self._arrivals, clock)
        self._alarms = Alarms(known, actors)
        self._disputes = disputes.Disputes(self._random)
        self._plain = invoices.Invoices(self._random)
        self._history = History()

    def told(self, events: int, waiting: int, *, present: bool) -> int:
        self._set_rules()
        self._everyday_life()
        self._outage()
        self._today()
        self._storm()
        self._errors()
        if present:
            Present(self._history, self._disputes, self._people, self._player, self._now).bring()
        self._much_more(events, waiting)
        self._happen()
        return self._history.events

    def _set_rules(self) -> None:
        history, begin = self._history, self._now - DAYS * DAY
        history.do(begin, self._alarms.begin)
        for step in range(1, DAYS * 2):
            history.do(begin + step * 12 * HOUR, self._alarms.look)
        for step in range(1, 16):
            history.do(self._now - step * 30 * MINUTE, self._alarms.look)
        history.do(self._now, self._alarms.end)

    def _everyday_life(self) -> None:
        """Keys that were put back on the line, one after another."""
        for number in range(EVERYDAY):
            at = self._sometime(before=8 * HOUR)
            if number % 2:
                flow = "invoices-eu" if number % 4 == 1 else "shipments"
                case = self._history.park(self._plain.case(flow, at, events=self._random.choice((1, 1, 2, 3))))
            else:
                case = self._history.park(self._disputes.case(at, behind=self._random.choice((1, 2, 2, 4, 7))))
            self._mended(case, rejected=number % 17 == 3, fails=number % 12 == 4)

    def _mended(self, case: Case, *, rejected: bool = False, fails: bool = False) -> None:
        """Decided, asked for, approved, replayed; before that a rejection, or a replay that stopped."""
        at = case.last + self._some_minutes(10, 90)
        at = self._decided(case, at)
        if rejected:
            self._asked(case, at, "as decided")
            at += self._some_minutes(5, 20)
            self._history.do(at, lambda: self._people.reject(case, "The amount does not match the ledger: ask again."))
            at = self._decided(case, at + self._some_minutes(20, 50))
        if fails:
            at = self._replayed(case, at, fails_at=self._random.randrange(1, len(case.events) + 1))
            at = self._decided(case, at + self._some_minutes(20, 50))
        self._replayed(case, at)

    def _decided(self, case: Case, at: datetime) -> datetime:
        self._history.do(at, lambda: self._people.decide(case))
        return at + self._some_minutes(1, 12)

    def _asked(self, case: Case, at: datetime, reason: str) -> None:
        self._history.do(at, lambda: self._people.request(case, reason))

    def _replayed(self, case: Case, at: datetime, *, fails_at: int = 0) -> datetime:
        reason = next(iter(case.remedies.values())).reason
        self._asked(case, at, reason)
        approved = at + self._some_minutes(2, 25)
        self._history.do(approved, lambda: self._people.approve(case))
        self._history.do(approved + timedelta(seconds=2), lambda: self._player.play(case, fails_at=fails_at))
        return approved + MINUTE

    def _outage(self) -> None:
        """The model did not answer for a while: the alarm rings, somebody is on it, then all of it is applied."""
        history, at = self._history, self._now.replace(minute=7) - 6 * DAY
        for number in range(48):
            case = self._disputes.case(at + number * timedelta(seconds=25), behind=1, trouble=disputes.model_silent)
            case.events[1:] = [
                event._replace(at=event.at - 2 * (event.at - case.began) / 3) for event in case.events[1:]
            ]
            history.park(case)
            history.parked += disputes.settled(case, at + HOUR + number * timedelta(seconds=12))
        self._incident("disputes", at, over=at + HOUR + 15 * MINUTE, said="the model is down, its team is on it")

    def _storm(self) -> None:
        """41 keys stopped for one error: nobody had loaded the tax rate of XI."""
        at = self._now - 3 * HOUR - 12 * MINUTE
        for number in range(41):
            began = at + number * timedelta(seconds=self._random.uniform(30, 37))
            events = self._random.choice((1, 1, 1, 2, 3))
            self._history.park(self._plain.case("invoices-eu", began, events=events, trouble=invoices.no_tax_rate))
        self._incident("invoices-eu", at, over=None, said="no tax rate for XI: asked the tax team to load it")

    def _incident(self, flow: str, at: datetime, *, over: datetime | None, said: str) -> None:
        for minute in range(0, 28, 3):
            self._history.do(at + minute * MINUTE, self._alarms.look)
        self._history.do(at + 31 * MINUTE, lambda: self._alarms.acknowledge(flow, said))
        for look in [over + minute * MINUTE for minute in (0, 5, 10)] if over else []:
            self._history.do(look, self._alarms.look)

    def _today(self) -> None:
        """What waits for somebody: an approval, a decision that was made, a replay that stopped."""
        waits = self._history.park(self._plain.case("invoices-eu", self._ago(70), events=2, trouble=invoices.negative))
        self._decided(waits, self._ago(25))
        self._asked(waits, self._ago(18), "credit notes, signs corrected with the sender")
        decided = self._history.park(self._plain.case("shipments", self._ago(95), events=2, trouble=invoices.no_weight))
        self._decided(decided, self._ago(33))
        stopped = self._history.park(
            self._plain.case("shipments", self._ago(230), events=3, trouble=invoices.depot_not_known_yet)
        )
        self._replayed(stopped, self._decided(stopped, self._ago(150)), fails_at=2)
        for minutes in (310, 130, 52, 14):
            self._history.park(self._plain.case("shipments", self._ago(minutes)))

    def _errors(self) -> None:
        """One that somebody is on, one that is to be quiet, and one that was resolved and, in a demo, comes back."""

        def say(days_ago: float, *said: str, **given: Any) -> None:
            self._history.do(self._now - days_ago * DAY, lambda: self._people.say(*said, **given))

        say(
            0.1,
            "invoices-eu",
            "TaxRateMissing",
            "acknowledged",
            note="The rate of XI is missing: the tax team loads it.",
        )
        say(0.3, "disputes", "AccountIsClosed", "ignored", days=5, reason="the sender stops it with the next release")
        say(5.5, "disputes", "ModelFailed", "resolved", version="disputes 4.2.0", reason="waits longer for the model",
            owner="owner", note="The model's team restarts it; all of it was applied afterwards.")  # fmt: skip

    def _much_more(self, events: int, waiting: int) -> None:
        """Keys that the consumer's own people put back without us, until there are enough; and keys that wait."""
        while waiting > 0:
            case = self._history.park(self._plain.case("invoices-eu", self._sometime(before=HOUR), events=2))
            waiting -= len(case.events)
        while self._history.events < events:
            case = self._history.park(
                self._disputes.case(self._sometime(before=2 * HOUR), behind=self._random.choice((0, 1, 3, 8)))
            )
            self._history.parked += disputes.settled(case, case.last + self._some_minutes(3, 40))

    def _happen(self) -> None:
        """Everything in order of time: records in bursts, and each deed after what was parked before it."""
        happenings: list[tuple[datetime, Parked | Deed]] = [(one.at, one) for one in self._history.parked]
        burst: list[Parked] = []
        for at, what in sorted([*happenings, *self._history.deeds], key=lambda one: one[0]):
            if not isinstance(what, Parked):
                self._store(burst)
                self._clock.set(at)
                what()
                continue
            if len(burst) >= BATCH or (burst and at - burst[0].at > self._span(at)):
                self._store(burst)
            burst.append(what)
        self._store(burst)

    def _span(self, at: datetime) -> timedelta:
        """How long records may be kept back to be stored together: what is long ago need not be told so finely."""
        return 4 * HOUR if at < self._now - DAY else 5 * MINUTE

    def _store(self, parked: list[Parked]) -> None:
        if parked:
            self._clock.set(parked[-1].at)
            self._arrivals.take(parked)
            parked.clear()

    def _sometime(self, *, before: timedelta) -> datetime:
        """Some time of the two weeks that is over for so long at least, more often by day."""
        (hour,) = self._random.choices(range(24), WITHIN_A_DAY)
        day = self._now - self._random.randrange(DAYS - 1) * DAY
        at = day.replace(hour=hour, minute=0, second=0) + timedelta(seconds=self._random.uniform(0, 3600))
        return at if at <= self._now - before else at - DAY

    def _some_minutes(self, least: int, most: int) -> timedelta:
        return timedelta(seconds=self._random.uniform(least * 60, most * 60))

    def _ago(self, minutes: float) -> datetime:
        return self._now - minutes * MINUTE
