"""The status page: whether each process lives, and no word about flows of others."""

import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from console.models import Grant
from parking import alarms
from parking.beat import beat
from parking.models import Beat, IntakePosition, Rollup, TopicIncarnation
from parking.search.index import catch_up
from parking.wire import Wire
from tests import alarm_story

NOTE = "reads 2 partitions; flow crm-sync: its topic does not exist"


@pytest.fixture
def alive(db):
    for process in ("intake", "index", "watch", "worker"):
        beat(process, NOTE if process == "intake" else "works")


def page(scene, who="oncall") -> str:
    return html.unescape(scene.client(getattr(scene, who)).get("/status").content.decode())


def test_each_process_that_is_silent_is_named_with_what_to_do(scene, alive):
    assert "Every process gives signs of life" in page(scene)
    Beat.objects.filter(process="worker").update(at=timezone.now() - timedelta(minutes=3))
    body = page(scene)
    assert "A process is silent" in body
    assert "celery -A console worker" in body
    assert "manage.py watch" not in body


def test_a_process_that_never_ran_is_silent(scene):
    assert page(scene).count("none today") == 4


def test_what_processes_note_is_for_those_who_see_every_flow(scene, alive):
    for who in ("oncall", "owner", "stranger"):
        assert NOTE not in page(scene, who)
        assert "reads 2 partitions" not in page(scene, who)
    Grant.objects.create(user=scene.oncall, flow=scene.foreign, role="viewer")
    assert "crm-sync: its topic does not exist" in page(scene)


def test_it_tells_how_far_the_index_is_and_what_was_not_understood(scene, alive):
    assert "7 events behind" in page(scene)
    catch_up()
    assert "has everything that is stored" in page(scene)
    scene.foreign_lot.take([(Wire(b"k", b"\x00\xff", ()), 10.0)])
    assert "every record was understood" in page(scene)
    scene.lot.take([(Wire(b"k", b"\x00\xff", ()), 10.0)])
    assert "1 record in no key" in page(scene)


def test_it_tells_how_far_intake_is_in_each_topic(scene, alive):
    now = timezone.now()
    assert "nobody has looked yet how much is unread" in page(scene)
    life = TopicIncarnation.objects.get(name="disputes.parking")
    TopicIncarnation.objects.filter(pk=life.pk).update(retention_ms=7 * 86_400_000)
    log = {"log_start": 0, "log_end": 20, "looked_at": now, "read_until": now}
    IntakePosition.objects.filter(topic=life).update(next_offset=8, **log)
    body = re.sub(r"<[^>]*>", "", page(scene))
    assert re.search(r"12\s+unread · 1\s+partition, last record stored", body)
    assert re.search(r"time to loss\s+6\u202fd 23\u202fh", body)
    assert "crm-sync.parking" not in body


def test_gaps_and_failed_pages_of_the_viewers_flows_are_listed(scene, alive):
    assert "Every page was delivered" in page(scene)
    alarm_story.delivery(scene.foreign, state="failed")
    assert "Every page was delivered" in page(scene)
    alarm_story.delivery(scene.disputes, state="failed")
    body = page(scene)
    assert "Send again" in body
    assert "disputes: a gap in disputes.parking" in body
    assert "crm-sync" not in body


def test_what_intake_stores_and_how_far_each_partition_is(scene, alive):
    now = timezone.now()
    minute = now.replace(second=0, microsecond=0) - timedelta(minutes=5)
    for flow, poison in ((scene.disputes, 40), (scene.foreign, 900)):
        Rollup.objects.update_or_create(flow=flow, minute=minute, defaults={"poison": poison, "held": 2, "other": 1})
    life = TopicIncarnation.objects.get(name="disputes.parking")
    for partition, end in ((1, 11), (2, 19)):
        IntakePosition.objects.create(
            topic=life, partition=partition, next_offset=7, moved_at=now, log_start=3, log_end=end, looked_at=now
        )
    body = " ".join(re.sub(r"<[^>]*>", " ", page(scene)).split())
    assert re.search(r"\b\d+ records in the last 10 minutes", body)
    assert "943 records" not in body
    assert re.search(r"disputes.parking / P2 12 7 3–19 .* disputes.parking / P1 4 7 3–11", body)
    assert "crm-sync.parking" not in body


def test_what_is_kept_raw_is_listed_with_the_reason_for_who_may_see_payloads(scene, alive):
    assert "every record was understood and stored whole" in page(scene)
    scene.foreign_lot.take([(Wire(b"k", b"\x00\xff", ()), 10.0)])
    assert "every record was understood and stored whole" in page(scene)
    scene.lot.take([(Wire(b"k", b"v", (("siding-version", b"1"), ("siding-kind", b"poison"))), 10.0)])
    assert "header siding-flow: expected a value" in page(scene)
    assert "header siding-flow" not in page(scene, "viewer")
    assert "masked" in page(scene, "viewer")


def test_topics_that_lose_records_stand_beside_gaps(scene, alive):
    alarms.open_incident(kind="compacted", flow=scene.disputes, key="t", summary="Parking topic t is compacted.")
    alarms.open_incident(kind="compacted", flow=scene.foreign, key="t", summary="Parking topic u is compacted.")
    body = page(scene)
    assert "Parking topic t is compacted." in body
    assert "Parking topic u is compacted." not in body
