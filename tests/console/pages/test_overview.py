"""The overview: one row for each flow of the viewer, by trouble; above it what needs them."""

import html
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from console.models import Grant
from parking.assign import assign
from parking.models import IntakePosition, Quarantine, Rollup, TopicIncarnation
from parking.search.index import catch_up
from tests import alarm_story
from tests.console import story


def page(scene, who="oncall", address="/") -> str:
    return html.unescape(scene.client(getattr(scene, who)).get(address).content.decode())


def row_of(body, flow):
    return next(row for row in re.findall(r"<tr>.*?</tr>", body, re.DOTALL) if f">{flow}</a>" in row)


def more_flows(scene, *names: str) -> list[story.Lot]:
    lots = [story.Lot(story.make_flow(name, replay_topic="x")) for name in names]
    for lot in lots:
        Grant.objects.create(user=scene.oncall, flow=lot.flow, role="operator")
    return lots


def test_a_row_says_what_waits_how_old_and_whose_it_is(scene):
    body = page(scene)
    row = row_of(body, "disputes")
    assert "Payments team" in row
    assert "2 + 5" in row
    assert "3\u202fh 12\u202fm" in row
    assert "1 key stopped in 1 flow" in body
    assert "7 events wait" in body


def reached(flow, *, partition=0, **log):
    """What intake saw of a partition of the flow's parking topic at its last look."""
    now = timezone.now()
    topic = TopicIncarnation.objects.filter(name=flow.parking_topic).latest("pk")
    TopicIncarnation.objects.filter(pk=topic.pk).update(retention_ms=log.pop("kept", 7 * DAY_MS))
    known = {"next_offset": 10, "moved_at": now, "log_start": 0, "log_end": 10, "looked_at": now, "read_until": now}
    IntakePosition.objects.update_or_create(topic=topic, partition=partition, defaults=known | log)


DAY_MS = 86_400_000


def test_a_row_says_what_intake_has_not_read_and_when_kafka_may_delete_it(scene):
    cells = re.compile(r'data-label="Unread">(.*?)</td>.*data-label="Time to loss">(.*?)</td>', re.DOTALL)

    def said():
        return tuple(re.sub(r"<[^>]*>", "", cell).strip() for cell in cells.findall(row_of(page(scene), "disputes"))[0])

    assert said() == ("—", "—")
    reached(scene.disputes)
    assert said() == ("0", "6\u202fd 23\u202fh")
    reached(scene.disputes, partition=1, log_end=1_240, read_until=timezone.now() - timedelta(days=6))
    assert said() == ("1\u202f230", "23\u202fh 59\u202fm")
    assert "is-poison strong" in cells.findall(row_of(page(scene), "disputes"))[0][1]
    reached(scene.disputes, kept=-1)
    assert said() == ("1\u202f230", "never")
    TopicIncarnation.objects.create(cluster=scene.disputes.cluster, name=scene.disputes.parking_topic, topic_id="new")
    assert said() == ("—", "—")  # of the earlier life nothing can be read any more


def test_a_flow_page_says_how_far_intake_is(scene):
    reached(scene.disputes, log_end=13)
    body = page(scene, address="/flows/disputes")
    assert re.search(r'<dt>Unread</dt><dd>[^/]*>3</span>\s+<span class="quiet">in 1\s+partition', body)
    assert "6\u202fd 23\u202fh" in body


def test_flows_stand_by_trouble(scene):
    calm, old, fires = more_flows(scene, "a-calm", "b-old", "c-fires")
    story.simple_key(old, b"k", ago=90_000, error=("E", "m"))
    story.simple_key(fires, b"k", ago=60, error=("E", "m"))
    alarm_story.incident(fires.flow)
    order = re.findall(r'class="row-link" data-row href="/keys\?flow=([\w-]+)"', page(scene))
    assert order == ["c-fires", "b-old", "disputes", calm.flow.name]


def test_what_fires_moves_and_waits_is_on_chips(scene):
    scene.decide_all()
    scene.request()
    alarm_story.intake_lives()
    row = row_of(page(scene), "disputes")
    assert "1 waits for approval" in row
    alarm_story.incident(scene.disputes)
    row = row_of(page(scene), "disputes")
    assert 'class="chip on-poison"' in row
    assert "gap" in row


def test_many_keys_of_one_error_are_a_storm_and_of_many_errors_are_not(scene):
    storm, mixed = more_flows(scene, "storm", "mixed")
    for number in range(12):
        story.simple_key(storm, b"k%d" % number, ago=60, error=("com.example.TaxRateMissing", f"m {number}"))
        story.simple_key(mixed, b"k%d" % number, ago=60, error=(f"Error{number % 6}", "m"))
    body = page(scene)
    assert "storm: TaxRateMissing, 12 keys" in row_of(body, "storm")
    assert "stopped at one error: com.example.TaxRateMissing" in row_of(body, "storm")
    assert "storm" not in row_of(body, "mixed")


def test_a_flow_without_trouble_says_since_when(scene):
    quiet, new = more_flows(scene, "quiet", "new")
    Rollup.objects.create(flow=quiet.flow, minute=timezone.now() - timedelta(days=9, hours=1), poison=1)
    body = page(scene)
    assert "quiet for 9\u202fd" in row_of(body, "quiet")
    assert "nothing parked yet" in row_of(body, "new")
    assert new.flow.name in body


def test_the_sparkline_counts_the_last_day_of_this_flow_only(scene):
    now = timezone.now().replace(second=0, microsecond=0)
    Rollup.objects.all().delete()
    Rollup.objects.create(flow=scene.disputes, minute=now, poison=2, held=3, other=1)
    Rollup.objects.create(flow=scene.disputes, minute=now - timedelta(hours=30), poison=50)
    Rollup.objects.create(flow=scene.foreign, minute=now, poison=70)
    row = row_of(page(scene), "disputes")
    assert 'aria-label="6 parked in 24 h, at most 6 in one hour"' in row
    assert row.count('rx="1"') == 24


@pytest.mark.parametrize(("seconds", "said"), [(5, "intake read"), (400, "intake has been silent for")])
def test_it_says_whether_intake_reads(scene, seconds, said):
    alarm_story.intake_lives(seconds)
    assert said in page(scene)


def test_the_age_is_coloured_by_the_alarm_that_it_would_ring(scene):
    assert "is-poison strong" not in row_of(page(scene), "disputes")
    rule = alarm_story.rule(scene.disputes, "age", threshold=20_000)
    assert "is-held strong" in row_of(page(scene), "disputes")
    type(rule).objects.filter(pk=rule.pk).update(threshold=10_000)
    assert "is-poison strong" in row_of(page(scene), "disputes")


def test_what_needs_the_viewer_stands_above_and_leads_there(scene):
    scene.decide_all()
    replay = scene.request()
    assert "1 approval waits for you" not in page(scene, "oncall")
    body = page(scene, "reviewer")
    assert "1 approval waits for you" in body
    assert f'href="/replays/{replay.pk}"' in body
    incident = alarm_story.incident(scene.disputes)
    assert "nobody is on it" in page(scene, "reviewer")
    assert f'class="need is-poison" href="/incidents/{incident.pk}"' in page(scene, "reviewer")
    assert "nobody is on it" not in page(scene, "viewer")  # who may not act on it is not asked to


def test_keys_assigned_to_the_viewer_are_counted_and_found(scene):
    me = story.actor(scene.oncall)
    other = story.simple_key(scene.lot, b"acc-other", ago=60, error=("E", "m"))
    assign(quarantine_id=scene.key.pk, to=me, actor=me, seen="")
    assert "1 key assigned to you" in page(scene)
    assert "not decided yet" in page(scene)
    assign(quarantine_id=other.pk, to=me, actor=me, seen="")
    assert "2 keys assigned to you" in page(scene)
    assert "keys assigned to you" not in page(scene, "reviewer")
    listed = page(scene, address="/keys?assigned=me")
    assert "acc-other" in listed
    assert "acc-other" not in page(scene, "reviewer", "/keys?assigned=me")


def test_nothing_to_do_and_no_role_are_said(scene):
    assert "Nothing waits for you" in page(scene, "viewer")
    Grant.objects.filter(user=scene.viewer).delete()
    assert "You have no role in any flow" in page(scene, "viewer")


@pytest.mark.parametrize("address", ["/", "/flows", "/status", "/account", "/incidents", "/search?q=acc-20417"])
def test_six_flows_cost_as_many_questions_as_two(scene, address):
    def cost() -> int:
        client = scene.client(scene.oncall)
        with CaptureQueriesContext(connection) as asked:
            assert client.get(address).status_code == 200
        return len(asked)

    def stop(*names: str) -> None:
        for lot in more_flows(scene, *names):
            story.simple_key(lot, b"k", ago=60, error=("E", "m"))
            alarm_story.incident(lot.flow)
        catch_up()

    stop("one")
    before = cost()
    stop("two", "three", "four", "five")
    assert cost() == before


def test_the_live_part_is_the_page_without_its_frame(scene):
    body = page(scene, address="/?live=1")
    assert body.startswith('<div id="live"')
    assert "<header" not in body


def test_assigning_by_the_page_needs_more_than_looking(scene):
    address = f"/keys/{scene.key.pk}/assignee"
    assert scene.client(scene.viewer).post(address, {"to": "me", "seen": ""}).status_code == 403
    assert scene.client(scene.oncall).post(address, {"to": "me", "seen": ""}).status_code == 302
    assert Quarantine.objects.get(pk=scene.key.pk).assignee_id == f"user:{scene.oncall.pk}"
    late = scene.client(scene.reviewer).post(address, {"to": "me", "seen": ""}, follow=True)
    assert "assigned to on-call engineer by now" in late.content.decode()
