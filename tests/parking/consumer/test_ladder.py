"""The ladder of modes: each rung, who goes down and who comes up, and what the shadow reports."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from parking.consumer import (
    AsyncLadder,
    Breaker,
    Disagreements,
    Effect,
    Event,
    Ladder,
    Modes,
    ParkedShare,
    Poison,
    RateLimited,
    Unavailable,
    note,
)
from parking.consumer.ask import Wait, advance
from parking.consumer.coroutines import Coroutines
from parking.consumer.dispatch import Dispatch, Read
from parking.consumer.ladder import MOST_AT_WORK
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.modes import AUTONOMOUS, FALLBACK, KIT, SHADOW, event_type, tenant
from parking.consumer.schedule import Schedule
from parking.coordinates import Coordinates
from parking.record import Record
from tests.parking.consumer.service import Log, Service, source
from tests.waiting import wait_until


class Model:
    """Proposes to refund everything, and can be told to do otherwise."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails: Exception | None = None

    def __call__(self, event: Event) -> Effect:
        self.asked.append(event.event_id)
        if self.fails is not None:
            raise self.fails
        return Effect(result={"verdict": "refund"}, evidence={"model": "m-4.1"})


def old(event: Event) -> Effect:
    """Refunds what has an even number."""
    return Effect(result={"verdict": "refund" if int(event.event_id[1:]) % 2 == 0 else "review"})


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def modes(ledger: Ledger) -> Modes:
    return Modes("disputes", ledger, believe=0)


@pytest.fixture
def reported(ledger: Ledger) -> Disagreements:
    return Disagreements("disputes", ledger)


@pytest.fixture
def ladder(modes: Modes, reported: Disagreements, model: Model) -> Ladder:
    scopes: Callable[[Event], list[str]] = lambda event: [tenant((event.header("tenant") or b"").decode())]  # noqa: E731
    share = ParkedShare(most=0.2, of_last=10)
    return Ladder(modes, reported, autonomous=model, fallback=old, scopes=scopes, parked_share=share)


@pytest.fixture
def service(make_service: Callable[..., Service], ladder: Ladder, model: Model) -> Service:
    dependencies = [ladder.model("model", Breaker(failures=2, open_for=60))]
    made = make_service(watchers=[ladder], dependencies=dependencies, attempts=2)
    made.process._trying.handler = ladder
    return made


def results(service: Service) -> list[Any]:
    with service.ledger.transaction("", write=False) as transaction:
        rows = transaction.connection.execute(
            "SELECT result, evidence FROM siding_fate WHERE state = 'applied' ORDER BY source_offset"
        ).fetchall()
    return [(bytes(result).decode(), bytes(evidence).decode()) for result, evidence in rows]


def up(modes: Modes, mode: str, **scope: str) -> None:
    modes.up(mode, who="on-call engineer", why="watched for a week", **scope)


def test_fallback_the_old_handler_acts_and_nobody_asks_the_model(service: Service, model: Model) -> None:
    service.take(source("e1", 0))
    assert results(service) == [('{"verdict":"review"}', '{"mode":"fallback"}')]
    assert model.asked == []


def test_autonomous_the_models_decision_takes_effect(service: Service, modes: Modes, model: Model) -> None:
    up(modes, AUTONOMOUS)
    service.take(source("e1", 0))
    assert results(service) == [('{"verdict":"refund"}', '{"mode":"autonomous","model":"m-4.1"}')]


def test_shadow_the_model_decides_without_effect_and_disagreements_are_told_by_key(
    service: Service, modes: Modes, ladder: Ladder, model: Model, reported: Disagreements
) -> None:
    up(modes, SHADOW)
    service.take(source("e1", 0), source("e2", 1), source("e3", 2), source("e5", 3, key=b"other"))
    ladder.rest()
    assert sorted(model.asked) == ["e1", "e2", "e3", "e5"], "on real traffic"
    assert [result for result, _ in results(service)] == [
        f'{{"verdict":"{verdict}"}}' for verdict in ("review", "refund", "review", "review")
    ]
    told = reported.by_key()
    assert {key: sorted(one.event_id for one in ones) for key, ones in told.items()} == {
        b"k": ["e1", "e3"],
        b"other": ["e5"],
    }
    assert list(told) == [b"k", b"other"]
    assert (told[b"other"][0].acted, told[b"other"][0].shadow) == ({"verdict": "review"}, {"verdict": "refund"})


@pytest.mark.parametrize("error", [Poison("never"), ValueError("odd")])
def test_what_fails_in_the_shadow_harms_nobody(
    service: Service, ladder: Ladder, model: Model, log: Log, error: Exception
) -> None:
    up(ladder.modes, SHADOW)
    model.fails = error
    service.take(source("e2", 0))
    ladder.rest()
    assert log.said == []
    (told,) = ladder.disagreements.newest()
    assert str(error) in str(told.shadow)


@pytest.mark.parametrize("error", [RateLimited(9), Unavailable("model: away")])
def test_a_shadow_that_cannot_decide_is_no_disagreement(
    service: Service, ladder: Ladder, model: Model, error: Exception
) -> None:
    up(ladder.modes, SHADOW)
    model.fails = error
    service.take(source("e2", 0))
    ladder.rest()
    assert (ladder.disagreements.newest(), ladder.unjudged, service.waited) == ([], 1, [])


def test_going_down_is_a_write_and_not_a_deployment(
    service: Service, modes: Modes, ledger: Ledger, model: Model
) -> None:
    up(modes, AUTONOMOUS)
    service.take(source("e1", 0))
    Modes("disputes", ledger).down(FALLBACK, why="odd refunds", who="reviewer")  # another process, or a person's SQL
    service.take(source("e2", 1))
    assert model.asked == ["e1"]


def test_one_tenant_or_type_goes_down_alone(service: Service, modes: Modes, model: Model) -> None:
    up(modes, AUTONOMOUS)
    modes.down(FALLBACK, why="asked for it", who="owner", scope=tenant("t-1"))
    service.take(source("e1", 0, headers=(("tenant", b"t-1"),)), source("e2", 1, headers=(("tenant", b"t-2"),)))
    assert model.asked == ["e2"]
    assert modes.of([event_type("DisputeOpened"), tenant("t-1")]) == FALLBACK
    up(modes, AUTONOMOUS, scope=tenant("t-1"))
    modes.down(SHADOW, why="all", who="owner")
    assert modes.of([tenant("t-1")]) == SHADOW, "never above the flow"


def test_an_open_breaker_leads_down_and_the_line_goes_on(
    service: Service, modes: Modes, model: Model, log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    up(modes, AUTONOMOUS)
    model.fails = TimeoutError("no answer")
    service.take(source("e1", 0), source("e2", 1, key=b"other"))
    assert log.said == [], "the second failure was the last attempt, and opened the breaker"
    assert modes.of() == FALLBACK
    assert "down to fallback: the breaker of model is open; a person has to bring it up again" in caplog.text
    assert [result for result, _ in results(service)] == ['{"verdict":"review"}', '{"verdict":"refund"}']
    assert model.asked == ["e1", "e1"]
    assert modes.history()[-1].who == KIT


def test_a_high_share_of_parked_events_leads_down(service: Service, modes: Modes, model: Model) -> None:
    up(modes, AUTONOMOUS)
    for n in range(10):
        model.fails = Poison("odd") if n in (2, 5, 8) else None
        service.take(source(f"e{n}", n, key=b"key-%d" % n))
        assert modes.of() == (AUTONOMOUS if n < 9 else SHADOW)
    assert modes.history()[-1].why == "3 of the last 10 events were parked"


def of_tenant(service: Service, n: int, name: str) -> None:
    service.take(source(f"e{n}", n, key=b"key-%d" % n, headers=(("tenant", name.encode()),)))


def test_a_high_share_of_one_tenant_leads_only_that_tenant_down(service: Service, modes: Modes, model: Model) -> None:
    up(modes, AUTONOMOUS)
    for n in range(10):
        model.fails = Poison("odd") if n in (2, 5, 8) else None
        of_tenant(service, n, "t-1" if n in (1, 2, 5, 8) else "t-2")
    assert [modes.of(scopes) for scopes in ([], [tenant("t-1")], [tenant("t-2")])] == [AUTONOMOUS, SHADOW, AUTONOMOUS]
    change = modes.history()[-1]
    assert (change.scope, change.why) == (
        tenant("t-1"),
        "3 of the last 10 events were parked, 3 of them of tenant:t-1",
    )
    model.fails = Poison("odd")
    for n in range(10, 14):
        of_tenant(service, n, "t-2")
        assert modes.of() == (AUTONOMOUS if n < 13 else SHADOW), "six of the other tenant's still count"


def test_what_is_parked_of_many_tenants_leads_the_flow_down(service: Service, modes: Modes, model: Model) -> None:
    up(modes, AUTONOMOUS)
    for n in range(10):
        model.fails = Poison("odd") if n >= 4 else None
        of_tenant(service, n, f"t-{n % 2}")
    assert modes.of() == SHADOW
    assert modes.history()[-1].why == "6 of the last 10 events were parked"


def handled(service: Service, ladder: Ladder, meanwhile: Callable[[], object]) -> None:
    """The handlers go on, and meanwhile somebody does something."""

    def beside(event: Event) -> Effect:
        try:
            return ladder(event)
        finally:
            meanwhile()

    service.process._trying.handler = beside


def test_what_the_model_decided_counts_although_it_was_taken_down_meanwhile(
    service: Service, ladder: Ladder, modes: Modes, model: Model
) -> None:
    up(modes, AUTONOMOUS)
    model.fails = Poison("odd")
    handled(service, ladder, lambda: modes.down(SHADOW, why="a look at it", who="owner"))
    service.take(source("e1", 0))
    up(modes, AUTONOMOUS)
    handled(service, ladder, lambda: None)
    for n in range(2, 11):
        model.fails = Poison("odd") if n > 8 else None
        service.take(source(f"e{n}", n, key=b"key-%d" % n))
    assert modes.history()[-1].why == "3 of the last 10 events were parked"


def test_what_the_old_handler_failed_is_not_the_model_s(
    make_service: Callable[..., Service], modes: Modes, reported: Disagreements, model: Model
) -> None:
    def fails(event: Event) -> Effect:
        up(modes, AUTONOMOUS)
        raise Poison("bad")

    share = ParkedShare(most=0.0, of_last=1)
    ladder = Ladder(modes, reported, autonomous=model, fallback=fails, parked_share=share)
    service = make_service(watchers=[ladder])
    service.process._trying.handler = ladder
    service.take(source("e1", 0))
    assert modes.of() == AUTONOMOUS


def test_what_no_handler_was_asked_about_is_not_the_model_s(service: Service, modes: Modes, log: Log) -> None:
    up(modes, AUTONOMOUS)
    service.take(source("e1", 0))
    for n in range(1, 11):
        service.take(source(f"other{n}", n, event_id="e1", key=b"key-%d" % n))
    assert len(log.announcements) == 10
    assert modes.of() == AUTONOMOUS


def test_what_was_asked_and_never_settled_does_not_pile_up(ladder: Ladder, modes: Modes) -> None:
    up(modes, AUTONOMOUS)
    modes._believe = 60
    for n in range(MOST_AT_WORK + 10):
        ladder(Event(f"e{n}", b"k", b"k", b"v", (), Coordinates("s", 0, n, 0)))
    assert len(ladder._acted) == MOST_AT_WORK


def test_only_a_person_comes_up_and_says_why(modes: Modes) -> None:
    for who, why in (("", "better"), (KIT, "better"), ("engineer", " ")):
        with pytest.raises(ValueError, match="takes a person"):
            modes.up(AUTONOMOUS, who=who, why=why)
    assert modes.of() == FALLBACK
    up(modes, AUTONOMOUS)
    assert not modes.down(AUTONOMOUS, why="it is there already")
    (change,) = modes.history()
    assert (change.mode, change.who, change.why) == (AUTONOMOUS, "on-call engineer", "watched for a week")
    assert change.at > 1_000_000_000_000


def test_nothing_but_the_three_rungs(modes: Modes) -> None:
    with pytest.raises(ValueError, match="expected one of fallback, shadow, autonomous, arrived 'fast'"):
        modes.down("fast", why="no")


def test_what_was_read_last_holds_while_the_database_is_away(ledger: Ledger) -> None:
    class Away:
        away = False

        def transaction(self, flow: str, *, write: bool = True) -> Any:
            if self.away:
                raise Unavailable("ledger: away")
            return ledger.transaction(flow, write=write)

    away = Away()
    modes = Modes("disputes", away, believe=0)  # type: ignore[arg-type]
    up(modes, SHADOW)
    assert modes.of() == SHADOW
    away.away = True
    assert modes.of() == SHADOW
    with pytest.raises(Unavailable):
        Modes("disputes", away).of()  # type: ignore[arg-type]


class Loop:
    """The service on an event loop."""

    def __init__(self, service: Service, ladder: AsyncLadder, model: Model) -> None:
        service.process._trying.handler = ladder
        self.service, self.ladder, self.model = service, ladder, model
        self.dispatch = Dispatch(Schedule(per_partition=10, overall=10))
        self.coroutines = Coroutines(self.dispatch, "test")
        self.dispatch.assign([("s", 0)])

    def take(self, *records: Record) -> None:
        """Process the records, those of different keys side by side."""
        course = self.service.process.course
        self.dispatch.add(Read(("s", 0), one.offset, one.key or b"", course(one), 1) for one in records)
        wait_until(lambda: not self.dispatch.backlog(("s", 0))[0])
        self.ladder.rest()


class AsyncModel(Model):
    async def __call__(self, event: Event) -> Effect:  # type: ignore[override]
        await asyncio.sleep(0)
        note(model="m-4.1")
        return super().__call__(event)


@pytest.fixture
def loop(make_service: Callable[..., Service], modes: Modes, reported: Disagreements) -> Iterator[Loop]:
    share = ParkedShare(most=0.2, of_last=10)
    model = AsyncModel()
    ladder = AsyncLadder(modes, reported, autonomous=model, fallback=old, parked_share=share)
    dependencies = [ladder.model("model", Breaker(failures=2, open_for=60))]
    service = make_service(watchers=[ladder], dependencies=dependencies, attempts=2)
    loop = Loop(service, ladder, model)
    yield loop
    loop.coroutines.end()


def test_each_rung_with_a_model_that_is_async_and_an_old_handler_that_is_not(
    loop: Loop, reported: Disagreements
) -> None:
    loop.take(source("e1", 0))
    up(loop.ladder.modes, SHADOW)
    loop.take(source("e3", 1), source("e4", 2, key=b"other"))
    up(loop.ladder.modes, AUTONOMOUS)
    loop.take(source("e5", 3))
    assert results(loop.service) == [
        ('{"verdict":"review"}', '{"mode":"fallback"}'),
        ('{"verdict":"review"}', '{"mode":"shadow"}'),
        ('{"verdict":"refund"}', '{"mode":"shadow"}'),
        ('{"verdict":"refund"}', '{"mode":"autonomous","model":"m-4.1"}'),
    ]
    assert [one.event_id for one in reported.newest()] == ["e3"]


def test_an_open_breaker_leads_down_on_an_event_loop_too(loop: Loop, log: Log) -> None:
    up(loop.ladder.modes, AUTONOMOUS)
    loop.model.fails = TimeoutError("no answer")
    loop.take(source("e1", 0))
    loop.take(source("e2", 1, key=b"other"))
    assert (log.said, loop.ladder.modes.of(), len(results(loop.service))) == ([], FALLBACK, 2)


def test_what_an_async_handler_raises_in_the_shadow_harms_nobody(loop: Loop, reported: Disagreements, log: Log) -> None:
    up(loop.ladder.modes, SHADOW)
    loop.model.fails = RateLimited(9)
    loop.take(source("e1", 0))
    loop.model.fails = Poison("never")
    loop.take(source("e2", 1))
    assert (log.said, loop.ladder.unjudged, [one.shadow for one in reported.newest()]) == ([], 1, [{"parked": "never"}])


def test_the_ladder_of_plain_functions_says_who_takes_an_async_one(modes: Modes, reported: Disagreements) -> None:
    with pytest.raises(TypeError, match="AsyncLadder"):
        Ladder(modes, reported, autonomous=AsyncModel(), fallback=old)


def test_a_database_that_is_away_before_a_mode_was_read_spends_no_attempt(
    service: Service, ledger: Ledger, log: Log
) -> None:
    with ledger.transaction("") as transaction:
        transaction.connection.execute("ALTER TABLE siding_mode RENAME TO hidden")
    course = service.process.course(source("e1", 0))
    for _ in range(5):
        assert isinstance(advance(course), Wait)
    with ledger.transaction("") as transaction:
        transaction.connection.execute("ALTER TABLE hidden RENAME TO siding_mode")
    assert advance(course) is None
    assert (log.said, len(results(service))) == ([], 1)
