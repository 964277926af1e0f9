"""/metrics: who may read it, and that its numbers are those of the store."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from parking.beat import beat
from parking.models import Beat, EventState, Flow, IntakePosition, Rollup, TopicIncarnation
from parking.search.index import catch_up
from parking.wire import Wire
from tests import alarm_story
from tests.console.story import make_flow

TOKEN = "a-token-of-the-tests"


@pytest.fixture(autouse=True)
def _token(settings):
    settings.METRICS_TOKEN = TOKEN


def scrape(**more):
    given = {"headers": {"Authorization": f"Bearer {TOKEN}"}} | more
    return Client().get("/metrics", **given)


def samples():
    """(name, labels as a tuple) → value."""
    answer = scrape()
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.content.decode())
    return {(s.name, *sorted(s.labels.values())): s.value for family in families for s in family.samples}


@pytest.mark.parametrize(
    "given",
    [
        {"headers": {}},
        {"headers": {"Authorization": "Bearer wrong"}},
        {"headers": {"Authorization": f"Basic {TOKEN}"}},
        {"headers": {"Authorization": "Bearer "}},
        {"headers": {"X-Forwarded-For": "10.1.2.3"}},
        {"headers": {}, "REMOTE_ADDR": "not-an-address"},
    ],
)
def test_who_has_no_token_finds_no_such_page(db, settings, given):
    settings.METRICS_ALLOW = ("10.1.0.0/16",)
    assert scrape(**given).status_code == 404


def test_without_a_token_in_the_settings_none_is_right(db, settings):
    settings.METRICS_TOKEN = ""
    assert scrape(headers={"Authorization": "Bearer "}).status_code == 404
    assert scrape().status_code == 404


def test_from_an_allowed_network_none_is_needed(db, settings):
    settings.METRICS_ALLOW = ("10.1.0.0/16", "fd00::/8")
    assert scrape(headers={}, REMOTE_ADDR="10.1.2.3").status_code == 200
    assert scrape(headers={}, REMOTE_ADDR="10.2.2.3").status_code == 404


def test_who_is_signed_in_is_no_scraper(scene):
    assert scene.client(scene.oncall).get("/metrics").status_code == 404


def test_what_waits_and_what_was_stored(scene):
    found = samples()
    disputes = Flow.objects.get(name="disputes")
    keys = [q for q in disputes.quarantines.all() if q.state != "released"]
    assert found["siding_waiting", "disputes", "poison"] == sum(q.poison for q in keys)
    assert found["siding_waiting", "disputes", "held"] == sum(q.held for q in keys)
    assert found["siding_stopped_keys", "disputes"] == len(keys)
    assert found["siding_oldest_seconds", "disputes"] > 0
    now = timezone.now()
    minute, current = now.replace(second=0, microsecond=0) - timedelta(minutes=1), now.minute
    Rollup.objects.update_or_create(flow=disputes, minute=minute, defaults={"poison": 3, "held": 2, "other": 1})
    measured = samples()["siding_stored_last_minute", "disputes", "held"]
    assert measured == 2 or timezone.now().minute != current


def test_what_intake_has_not_read_and_when_it_is_lost(scene):
    flow = Flow.objects.get(name="disputes")
    now = timezone.now()
    flow.more_parking_topics = ["^eu-.*"]
    flow.save()
    for name, kept in ((flow.parking_topic, 3_600_000), ("eu-dead", 7_200_000), ("us-dead", 1000)):
        life = TopicIncarnation.objects.create(cluster=flow.cluster, name=name, topic_id="now", retention_ms=kept)
        IntakePosition.objects.create(
            topic=life, partition=0, next_offset=5, moved_at=now, log_start=0, log_end=12, read_until=now, looked_at=now
        )
    found = samples()
    assert found["siding_intake_lag", "disputes"] == 14
    assert found["siding_intake_loss_seconds", "disputes"] == pytest.approx(3600, abs=30)


def test_processes_incidents_raw_records_and_the_index(scene):
    beat("intake", "reads a topic of somebody: SECRET-NOTE")
    Beat.objects.update(at=timezone.now() - timedelta(seconds=90))
    alarm_story.delivery(scene.disputes, state="pending")
    scene.lot.take([(Wire(b"k", b"\x00\xff", ()), 10.0)])
    found = samples()
    assert found["siding_last_beat_seconds", "intake"] == pytest.approx(90, abs=30)
    assert found["siding_raw_records", "disputes"] == EventState.objects.filter(kind="unattributed").count() > 0
    assert found["siding_incidents", "disputes", "gap"] == 1
    assert found["siding_deliveries_pending",] >= 1
    assert found["siding_index_lag",] > 0
    assert found["siding_replays", "requested"] >= 0
    catch_up()
    assert samples()["siding_index_lag",] == 0


def test_nothing_of_a_team_but_the_names_of_its_flows(scene):
    body = scrape().content.decode()
    for event in EventState.objects.select_related("event", "quarantine__hold_key"):
        assert event.event.event_id not in body
        if event.event.error_message:
            assert event.event.error_message not in body
    for flow in Flow.objects.select_related("team"):
        assert flow.parking_topic not in body
        assert flow.team.name not in body


def test_few_queries_however_many_flows_there_are(scene):
    for number in range(20):
        make_flow(f"one-{number}", replay_topic="replay")
    with CaptureQueriesContext(connection) as asked:
        scrape()
    assert len(asked) <= 20


def test_a_database_that_does_not_answer_is_said(scene):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE parking_quarantine RENAME TO away")
    answer = scrape()
    assert (answer.status_code, answer.content) == (503, b"The database cannot be asked now.\n")
