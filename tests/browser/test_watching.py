"""The owner's way: paged at night, from the incident over the overview to the key, by keyboard and without a script."""

import re

import pytest
from playwright.sync_api import expect

from parking import alarms
from parking.models import Incident
from tests import alarm_story
from tests.console import story

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def paged(transactional_db, kafka):
    """The age of a flow fires, and the owner's hook was told."""
    flow = story.make_flow("disputes", bootstrap=kafka, replay_topic="disputes.replay")
    lot = story.Lot(flow)
    story.disputed_key(lot)
    owner = story.person("owner", "flow owner", owner=flow)
    alarm_story.hook(flow.team, "owner@payments.example", name="owner mail")
    alarm_story.intake_lives()
    alarms.ensure_rules(flow=flow, actor=alarm_story.OWNER)
    alarms.evaluate()
    return owner, Incident.objects.get(kind="age")


@pytest.mark.parametrize("script", [True, False])
def test_from_the_page_to_the_key(paged, open_page, script):
    owner, incident = paged
    page = open_page(owner, java_script_enabled=script, viewport={"width": 360, "height": 780})
    page.goto(f"/incidents/{incident.pk}")
    expect(page.get_by_role("heading", level=1)).to_have_text("disputes: age over 15\u202fm")
    page.get_by_label("What you do about it").fill("looking at the model")
    page.get_by_role("button", name="Acknowledge: I am on it").click()
    expect(page.locator("#timeline")).to_contain_text("looking at the model")
    page.locator(".brand").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("1 key stopped in 1 flow")
    expect(page.locator(".need").first).to_contain_text("acknowledged by you")
    page.locator("tbody").get_by_role("link", name="age over 15").click()
    page.get_by_role("link", name="Open the oldest key").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("acc-20417")
    page.get_by_role("button", name="Assign to me").click()
    expect(page.get_by_role("button", name="Leave it to others")).to_be_visible()


def test_the_keyboard_goes_everywhere_and_assigns(paged, open_page):
    owner, _ = paged
    page = open_page(owner)
    page.goto("/keys")
    for key, address in (("o", "/"), ("e", "/errors"), ("r", "/replays"), ("i", "/incidents"), ("k", "/keys")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"[^/]{address}$"))
        page.wait_for_load_state()  # keys do nothing before the scripts run
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("acc-20417")
    page.wait_for_load_state()
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Leave it to others")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("/")
    page.keyboard.type("acc-20417")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?q=acc-20417$"))


def test_what_is_under_the_pointer_stays_where_it_is(paged, open_page):
    owner, incident = paged
    page = open_page(owner)
    page.goto("/incidents")
    link = page.get_by_role("link", name="age over 15")
    link.hover()
    alarm_story.incident(incident.flow, summary="disputes: another one")
    page.wait_for_timeout(6_000)
    expect(page.get_by_text("disputes: another one")).to_have_count(0)
    page.mouse.move(2, 2)
    expect(page.get_by_text("disputes: another one")).to_be_visible()
