"""`manage.py intake` as a process: killed at any instant, without its database or its broker, and what it says then."""

import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from parking.intake.ownership import SILENT
from parking.models import Beat, Cluster, EventState, Flow, Incident, IntakePosition, ParkedRecord

from .conftest import make_flow
from .test_kafka import lot_of, send

pytestmark = [pytest.mark.kafka, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def flow(make_topic, variables) -> Flow:
    topic = make_topic("parking")
    Cluster.objects.create(name="main", bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS)
    return make_flow(parking_topic=topic)


@contextmanager
def intake(variables, tmp_path, **changes):
    log = tmp_path / f"intake-{time.monotonic_ns()}.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "intake"], env=variables | changes, stdout=out, stderr=out
        )
        try:
            yield process, log
        finally:
            process.kill()
            process.wait(60)


def lines(log, *, that_hold=""):
    return [line for line in log.read_text().splitlines() if that_hold in line]


def wait(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


@pytest.mark.slow
def test_killed_again_and_again_it_stores_everything_once(flow, variables, tmp_path):
    lot = lot_of(flow)
    total = kills = 0
    while kills < 3 or ParkedRecord.objects.count() < total:
        before = ParkedRecord.objects.count()
        if before == total:  # it was faster than we are: there is more to be killed at
            records = [lot.poison(f"e{n}", n, key=b"%d" % (n % 50)) for n in range(total, total + 3000)]
            send(flow, *records)
            total += len(records)
        with intake(variables, tmp_path):
            wait(lambda before=before: ParkedRecord.objects.count() > before)
        kills += 1
        assert kills < 20
    assert EventState.objects.count() == total
    assert sum(EventState.objects.values_list("attempt_count", flat=True)) == total
    assert IntakePosition.objects.get().next_offset == total


@pytest.mark.slow
def test_a_database_that_goes_away_is_told_once_and_waited_for(flow, variables, tmp_path):
    lot = lot_of(flow)
    with intake(variables, tmp_path) as (_, log):
        send(flow, lot.poison("e1", 1))
        wait(lambda: EventState.objects.count() == 1)
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE parking_holdkey RENAME TO gone")  # nothing can be stored for a while
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid()"
            )
        send(flow, *(lot.poison(f"e{n}", n) for n in range(2, 50)))
        wait(lambda: lines(log, that_hold="the database: "))
        time.sleep(2)
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE gone RENAME TO parking_holdkey")
        wait(lambda: EventState.objects.count() == 49)
        told = [line for line in lines(log, that_hold="[warning") if "the database: " in line]
        assert len(told) <= 2  # gone, and then without its table
        assert all("intake goes on by itself" in line for line in told)
        wait(lambda: lines(log, that_hold="the database: works again"))
    assert sum(event.attempts.count() for event in EventState.objects.all()) == 49


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"password": "wrong"}, "check the user and the password in SIDING_DATABASE_URL"),
        ({"port": 1}, "start PostgreSQL, or correct the address in SIDING_DATABASE_URL"),
        ({"name": "nowhere"}, "create it, or correct SIDING_DATABASE_URL"),
        ({"name": "postgres"}, "run manage.py migrate"),
    ],
)
def test_a_database_that_cannot_be_used_is_one_clear_line(variables, tmp_path, changes, says):
    given = connection.settings_dict
    parts = {"password": given["PASSWORD"], "port": given["PORT"], "name": given["NAME"]} | changes
    url = f"postgresql://{given['USER']}:{parts['password']}@{given['HOST']}:{parts['port']}/{parts['name']}"
    with intake(variables, tmp_path, SIDING_DATABASE_URL=url) as (process, log):
        wait(lambda: lines(log, that_hold="the database: "))
        time.sleep(2.5)
        assert process.poll() is None
        (line,) = lines(log, that_hold="[warning")
        assert says in line
        assert "wrong@" not in line
        assert "Traceback" not in log.read_text()


@pytest.mark.slow
def test_a_broker_that_cannot_be_reached_is_one_clear_line_and_others_go_on(flow, variables, tmp_path):
    away = Cluster.objects.create(name="away", bootstrap_servers="127.0.0.1:1")
    make_flow("far", cluster=away)
    with intake(variables, tmp_path) as (_, log):
        send(flow, lot_of(flow).poison("e1", 1))
        wait(lambda: EventState.objects.count() == 1)
        wait(lambda: lines(log, that_hold="cluster away: Kafka cannot be reached"))
        time.sleep(6)
        (line,) = lines(log, that_hold="cluster away: ")
        assert "127.0.0.1:1" in line
        assert "intake goes on by itself" in line
        assert not Beat.objects.exists()  # a sign of life only while Kafka answers
        Cluster.objects.filter(name="away").update(bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS)
        Flow.objects.filter(name="far").update(parking_topic=flow.parking_topic)
        wait(Beat.objects.exists)


def test_logs_hold_nothing_of_a_payload(flow, variables, tmp_path):
    lot = lot_of(flow)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE parking_parkedevent ADD CONSTRAINT refuse CHECK (event_id <> 'bad')")
    try:
        with intake(variables, tmp_path) as (_, log):
            send(
                flow, lot.poison("bad", 1, key=b"SECRET-KEY", value=b"SECRET-VALUE", headers=(("h", b"SECRET-HEADER"),))
            )
            wait(lambda: EventState.objects.filter(kind="broken").exists())
            wait(lambda: lines(log, that_hold="sha256="))
            (line,) = lines(log, that_hold="sha256=")
            assert "[warning" in line
            assert "SECRET" not in log.read_text()
        assert "SECRET" not in EventState.objects.get().event.unreadable_reason
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE parking_parkedevent DROP CONSTRAINT refuse")


@pytest.mark.slow
def test_it_ends_at_once_when_it_is_told_to(flow, variables, tmp_path):
    with intake(variables, tmp_path) as (process, log):
        wait(Beat.objects.exists)
        process.terminate()
        assert process.wait(60) == 0
        assert lines(log, that_hold="intake ends")
        # Others share its partitions at once; the row stays, or an alarm would take intake for silent for ever.
        assert Beat.objects.get().at <= timezone.now() - SILENT


@pytest.mark.slow
def test_processes_that_come_and_go_in_the_middle_of_batches(make_topic, variables, tmp_path):
    """Partitions change hands again and again while records are being stored: each is stored once, none is a gap."""
    Cluster.objects.create(name="main", bootstrap_servers=settings.KAFKA_BOOTSTRAP_SERVERS)
    flow = make_flow(parking_topic=make_topic("parking", partitions=4))
    lot = lot_of(flow)
    total = 8000
    for first in range(0, total, 1000):
        records = [lot.poison(f"e{n}", n, key=b"%d" % (n % 50)) for n in range(first, first + 1000)]
        send(flow, *records, partition=first // 1000 % 4)
    ends = ["terminate", "kill", "kill", "terminate"]
    with ExitStack() as stack:
        stack.enter_context(intake(variables, tmp_path))
        while ParkedRecord.objects.count() < total and ends:
            other, _ = stack.enter_context(intake(variables, tmp_path))
            known = ParkedRecord.objects.count()
            wait(lambda known=known: ParkedRecord.objects.count() >= min(known + 500, total))
            wait(lambda pid=other.pid: Beat.objects.filter(pid=pid).exists())
            getattr(other, ends.pop())()
            other.wait(60)
            Beat.objects.filter(pid=other.pid).delete()  # else its silence has to be waited for
        wait(lambda: ParkedRecord.objects.count() == total)
    assert EventState.objects.count() == total
    assert sum(EventState.objects.values_list("attempt_count", flat=True)) == total
    assert sum(IntakePosition.objects.values_list("next_offset", flat=True)) == total
    assert not Incident.objects.exists()
