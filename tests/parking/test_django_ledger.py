"""The kit's ledger on Django's own connection: fate and ORM writes are one transaction."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connections, models, transaction
from psycopg import IsolationLevel

from parking.consumer.errors import Unavailable
from parking.consumer.event import Event
from parking.consumer.step import Done, Work
from parking.django_ledger import DjangoLedger
from parking.models import Team
from parking.wire import names
from tests.parking.consumer.service import FLOW, Log, Service, source

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


class Business(models.Model):
    """A table of the service's own."""

    event_id = models.TextField()
    objects: ClassVar[models.Manager[Any]] = models.Manager()

    class Meta:
        app_label = "tests"
        managed = False
        db_table = "business"


@pytest.fixture(scope="module", autouse=True)
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A second database of the service, known to Django before it opens any for these tests."""
    file = tmp_path_factory.mktemp("ledger") / "service.db"
    own = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(file), "OPTIONS": {"timeout": 5}}
    connections.databases["ledger_sqlite"] = {**connections["default"].settings_dict, **own}
    yield
    del connections.databases["ledger_sqlite"]


@pytest.fixture(params=["default", "ledger_sqlite"])
def using(request: pytest.FixtureRequest, transactional_db: None) -> Iterator[str]:
    """The alias of a database that has the service's table, and no ledger yet."""
    alias: str = request.param
    with connections[alias].schema_editor() as editor:
        editor.create_model(Business)
    yield alias
    with connections[alias].cursor() as cursor:
        names_of = connections[alias].introspection.table_names(cursor)
        for table in (name for name in names_of if name == "business" or name.startswith("siding_")):
            cursor.execute(f"DROP TABLE {table} {'CASCADE' if connections[alias].vendor == 'postgresql' else ''}")
    connections[alias].close()


class DjangoService(Service):
    """Writes with the ORM."""

    def write(self, event: Event) -> Callable[[Any], None]:
        using = self.ledger._using  # type: ignore[attr-defined]

        def write(_: Any) -> None:
            Business.objects.using(using).create(event_id=event.event_id)

        return write

    @property
    def applied(self) -> list[str]:
        using = self.ledger._using  # type: ignore[attr-defined]
        return list(Business.objects.using(using).order_by("pk").values_list("event_id", flat=True))


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def service(using: str, log: Log) -> Service:
    ledger = DjangoLedger(using)
    ledger.prepare()
    ledger.check()
    clock = itertools.count(1_000_000)
    return DjangoService(ledger, log, mark="%s", now=lambda: next(clock))


def test_the_whole_life_of_a_key(service: Service, log: Log) -> None:
    service.fails[b"e1"] = ValueError("no")
    service.take(source("e0", 0), source("e1", 1), source("e2", 2))
    service.fails.clear()
    for parked in log.announcements:
        service.apply(parked, 10)
    service.release(10)
    assert log.said == ["poison e1", "held e2", "applied e1", "applied e2", "released"]
    service.take(source("e0", 0), source("e3", 3))
    assert service.applied == ["e0", "e1", "e2", "e3"]


def test_fate_and_write_of_the_orm_are_one_transaction(service: Service, using: str) -> None:
    work = service.gate.begin(source("e1", 0))
    assert isinstance(work, Work)

    def broken(connection: Any) -> None:
        service.write(work.event)(connection)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work.applied(service.process_effect(work.event).__class__(broken))
    assert service.applied == []
    with service.ledger.transaction(FLOW.name) as looking:
        assert looking.fate("e1") is None
    assert isinstance(work.applied(service.process_effect(work.event)), Done)
    assert service.applied == ["e1"]


def test_the_commit_gate_looks_again_in_that_transaction(service: Service, log: Log) -> None:
    """The key is quarantined by another thread while the handler runs: nothing of its write stays."""
    work = service.gate.begin(source("e2", 1, partition=1))
    assert isinstance(work, Work)

    def other() -> None:
        service.fails[b"e1"] = ValueError("no")
        service.take(source("e1", 0))
        service.ledger.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(other).result(120)
    work.applied(service.process_effect(work.event))
    service.outbox.publish(None)
    assert service.applied == []
    assert log.said == ["poison e1", "held e2"]


def test_the_kits_transaction_is_never_a_part_of_another(service: Service, using: str) -> None:
    """It would be undone with it, after its offset had moved."""
    with transaction.atomic(using=using), pytest.raises(RuntimeError, match="durable"):
        service.gate._source._hold_locked(service.gate._source._sighting(source("e1", 0), "e1"))


def test_two_threads_on_one_event(service: Service) -> None:
    """A live success takes no lock; the second one finds the fate."""

    def owner(_: int) -> None:
        service.take(source("e1", 0))
        service.ledger.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(owner, range(8)))
    assert service.applied == ["e1"]


def test_a_missing_table_is_waited_for(service: Service, using: str) -> None:
    with connections[using].cursor() as cursor:
        cursor.execute("DROP TABLE siding_hold")
    with pytest.raises(Unavailable, match=rf"Django's database '{using}': a table is missing"):
        service.gate.begin(source("e1", 0))


def test_the_orms_own_errors_are_the_handlers(service: Service, using: str) -> None:
    with pytest.raises(DatabaseError), service.ledger.transaction(FLOW.name):
        Business.objects.using(using).create(event_id=None)


def test_the_buffer_has_the_databases_clock(service: Service, log: Log) -> None:
    service.fails[b"e1"] = ValueError("no")
    service.take(source("e1", 0), source("e2", 1))
    service.skip(log.announcements[0], 10)
    service.release(10)
    with service.ledger.transaction(FLOW.name) as looking:
        until, now = looking.lock(b"k").buffer_until, looking.now_ms()
    assert until is not None
    assert 8_000 < until - now <= 10_000
    assert log.outcome.outcome == names.STILL_HELD


def test_another_isolation_level_is_refused() -> None:
    default = connections["default"].settings_dict
    before = default["OPTIONS"]
    default["OPTIONS"] = {**before, "isolation_level": IsolationLevel.SERIALIZABLE}
    try:
        with pytest.raises(ImproperlyConfigured, match="leave its isolation_level at READ COMMITTED"):
            DjangoLedger()
    finally:
        default["OPTIONS"] = before
    assert Team.objects.count() == 0
