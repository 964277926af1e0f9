"""Errors as groups: counted, dated, and their messages only for those who may see payloads."""

import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from parking.models import ErrorGroup, EventState
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
    assert "3 (wait)" not in row
    assert re.search(r"3 <span[^>]*>\(3 wait\)", row)
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


def test_a_day_of_the_histogram_is_a_day_of_the_viewer(scene):
    broken = group(scene, count=2)
    events = EventState.objects.filter(error_group=broken)
    noon = timezone.now().replace(hour=12, minute=0)
    events.filter(pk=events.earliest("pk").pk).update(stored_at=noon - timedelta(days=3))
    body = page(scene, f"/errors/{broken.pk}")
    assert "2 in 14 days, at most 1 in one day" in body
    day = noon - timedelta(days=3)
    assert f"{day.day} {day:%b}: 1" in body


def test_only_the_latest_events_are_counted_and_it_says_so(scene, monkeypatch):
    group(scene, count=5)
    monkeypatch.setattr("console.pages.errors.LOOKED_AT", 2)
    monkeypatch.setattr("console.pages.error_counts.LOOKED_AT", 2)
    monkeypatch.setattr("console.pages.error_counts.counted.__kwdefaults__", {"latest": 2, "wide": False})
    body = page(scene, "/errors")
    assert "of its latest 2 events" in body
    assert "2 in 14 days" in body


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


@pytest.mark.parametrize("after", ["x", "1.", ".1", "\0", "9" * 40 + ".1", "9999999999999999.1", "-1.1", "١.١"])
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
