"""Errors as groups: counted, dated, and their messages only for those who may see payloads."""

import html
import re
from datetime import UTC, timedelta

import pytest
from django.utils import timezone

from parking.models import ErrorGroup, ErrorGroupDay, ErrorGroupKey, Quarantine
from tests import alarm_story
from tests.console import story


def page(scene, address, who="oncall") -> str:
    response = scene.client(getattr(scene, who)).get(address)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def group(scene, kind="Broken", count=3) -> ErrorGroup:
    for number in range(count):
        story.simple_key(scene.lot, b"%s-%d" % (kind.encode(), number), ago=60, error=(kind, f"row {number} is bad"))
    return ErrorGroup.objects.get(flow=scene.disputes, error_type=kind)


def test_failures_that_differ_by_numbers_are_one_group_with_all_its_keys(scene):
    broken = group(scene)
    body = page(scene, "/errors")
    row = next(row for row in re.findall(r"<tr>.*?</tr>", body, re.DOTALL) if "Broken" in row)
    assert "row <n> is bad" in row
    assert re.search(r'data-label="Stops now">.*3\s+keys', row)
    assert 'data-label="Keys ever">3</td>' in row
    assert "3 in 14 days, at most 3 in one day" in row
    detail = page(scene, f"/errors/{broken.pk}")
    assert "stops 3 keys now" in detail
    assert f'href="/keys?error={broken.pk}"' in detail
    assert detail.count('<td class="key">') == 3


@pytest.mark.parametrize("address", ["/errors", "/errors/{pk}"])
def test_messages_are_masked_where_payloads_are(scene, address):
    broken = group(scene)
    assert "is bad" in page(scene, address.format(pk=broken.pk))
    body = page(scene, address.format(pk=broken.pk), "viewer")
    assert "Broken" in body
    assert "is bad" not in body
    assert "masked" in body


def test_the_histogram_counts_every_event_on_its_day_however_many_there_are(scene):
    broken = group(scene, count=2)
    today = timezone.now().astimezone(UTC).date()
    before = today - timedelta(days=3)
    ErrorGroupDay.objects.create(error_group=broken, day=before, events=70_000, keys=5)
    ErrorGroupDay.objects.create(error_group=broken, day=today - timedelta(days=14), events=9, keys=1)
    body = page(scene, f"/errors/{broken.pk}")
    assert "70\u202f002 in 14 days, at most 70\u202f000 in one day" in body
    assert f"{before.day} {before:%b}: 70\u202f000" in body
    assert "8 ever" in body


def test_what_stops_keys_and_grows_comes_first(scene):
    hour, day = timedelta(hours=7), timedelta(days=1)
    for kind, count, ago in (("Over", 4, timedelta(0)), ("Old", 3, day), ("New", 1, timedelta(0)), ("Some", 2, hour)):
        one = group(scene, kind, count)
        ErrorGroup.objects.filter(pk=one.pk).update(last_seen=timezone.now() - ago)
    Quarantine.objects.filter(first_error__startswith="Over").update(
        state="released", poison=0, held=0, released_at=timezone.now()
    )
    rows = scene.client(scene.oncall).get("/errors?flow=disputes").context["rows"]
    told = [(row.group.error_type, row.stopped, row.growing) for row in rows if row.group.error_type.istitle()]
    assert told == [("New", 1, True), ("Old", 3, False), ("Some", 2, False), ("Over", 0, False)]


def test_keys_of_other_flows_are_not_counted(scene):
    mine = group(scene, count=1)
    other = scene.foreign_key
    ErrorGroupKey.objects.create(error_group=mine, quarantine=other)
    rows = scene.client(scene.oncall).get("/errors").context["rows"]
    assert next(row for row in rows if row.group == mine).stopped == 1


def test_groups_come_in_pages_without_a_gap_or_a_repeat(scene, monkeypatch):
    monkeypatch.setattr("console.pages.errors.PAGE", 2)
    for kind in ("One", "Two", "Three"):
        group(scene, kind, 1)
    ErrorGroup.objects.update(last_seen=timezone.now())  # all at the same moment
    client, after, seen = scene.client(scene.oncall), "", []
    while True:
        context = client.get("/errors", {"after": after}).context
        seen += [row.group.pk for row in context["rows"]]
        after = context["more"]
        if not after:
            break
    assert len(seen) == len(set(seen)) == ErrorGroup.objects.filter(flow=scene.disputes).count()


@pytest.mark.parametrize(
    "after",
    [
        "x",
        "1.",
        "1.1.1",
        "\0",
        "9" * 40 + ".1.1.2026-01-01T00:00:00+00:00",
        "1.1.1.2026-01-01T00:00:00",
        "-1.1.1.x",
        "١.١",
    ],
)
def test_a_cursor_that_is_none_gives_a_page(scene, after):
    assert scene.client(scene.oncall).get("/errors", {"after": after}).status_code == 200


def test_without_errors_it_says_what_would_appear(scene):
    assert "No error has stopped a key of this flow yet" in page(scene, "/errors?flow=nowhere")


def test_an_error_that_stops_nothing_any_more_leads_to_what_it_stopped(scene):
    broken = group(scene, count=1)
    alarm_story.settle(scene.lot, scene.lot.quarantine(b"Broken-0"), "applied")
    scene.lot.quarantine(b"Broken-0").__class__.objects.filter(hold_key__key=b"Broken-0").update(
        state="released", poison=0, held=0, released_at=timezone.now()
    )
    assert "It stops no key now" in page(scene, f"/errors/{broken.pk}")
