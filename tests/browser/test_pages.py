"""Every page in a browser: no barrier, no sideways scrolling, no dialog, and what scripts add."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from tests.browser.faults import barriers, sideways
from tests.console import story
from tests.screenshots import scenes

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def pictures(transactional_db, kafka):
    return scenes.tell(timezone.now())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_has_a_barrier(pictures, open_page, theme):
    found = []
    for who in {one.who for one in pictures}:
        page = open_page(who, color_scheme=theme, viewport={"width": 1360, "height": 1000})
        for picture in (one for one in pictures if one.who == who):
            page.goto(picture.address)
            found += [f"{picture.name}: {barrier}" for barrier in barriers(page)]
    assert found == []


def test_no_page_scrolls_sideways_on_a_phone_and_nothing_runs_that_is_not_ours(pictures, open_page):
    found = []
    for who in {one.who for one in pictures}:
        page = open_page(who, viewport={"width": 360, "height": 780})
        for picture in (one for one in pictures if one.who == who):
            page.goto(picture.address)
            found += [f"{picture.name}: {fault}" for fault in sideways(page)]
    assert found == []


@pytest.fixture
def scene(transactional_db, kafka, make_topic):
    topic = make_topic("replay", partitions=3, **{"max.message.bytes": "2000000"})
    flow = story.make_flow("disputes", schema=story.SCHEMA, bootstrap=kafka, replay_topic=topic)
    lot = story.Lot(flow)
    return lot, story.disputed_key(lot), story.person("oncall", "on-call engineer", operator=flow)


def test_without_a_script_everything_can_be_read_and_decided(scene, open_page):
    _, _, oncall = scene
    page = open_page(oncall, java_script_enabled=False)
    page.goto("/keys")
    page.get_by_role("link", name="acc-20417").click()
    page.get_by_role("link", name="LimitChanged poison").click()
    page.get_by_label("Reason").fill("superseded")
    page.get_by_role("button", name="Skip LimitChanged").click()
    expect(page.locator("#track .chip").nth(3)).to_have_text("skip")
    page.get_by_role("link", name="ChargeDisputed poison").click()
    page.get_by_role("link", name="Amend ChargeDisputed").click()
    page.get_by_role("button", name="Check without saving").click()
    expect(page.locator("#beside")).to_contain_text("2 errors")


def test_choosing_an_event_swaps_the_right_side_and_the_address_only(scene, open_page):
    _, key, oncall = scene
    page = open_page(oncall)
    page.goto(f"/keys/{key.pk}")
    page.evaluate("window.stayed = true")
    page.get_by_role("link", name="LimitChanged poison").click()
    expect(page.locator("#selected-title")).to_have_text("LimitChanged")
    expect(page.locator("#track [aria-current]")).to_contain_text("LimitChanged")
    expect(page).to_have_url(re.compile(r"\?event=\d+$"))
    assert page.evaluate("window.stayed")
    page.go_back()
    expect(page.locator("#selected-title")).to_have_text("ChargeDisputed")


def test_the_keyboard_moves_opens_goes_and_explains(scene, open_page):
    _, _, oncall = scene
    page = open_page(oncall)
    page.goto("/keys")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("acc-20417")
    page.wait_for_load_state()  # keys do nothing before the scripts run
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#selected-title")).to_have_text("EvidenceAdded")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile("/replays$"))
    page.wait_for_load_state()
    page.keyboard.press("/")
    page.keyboard.type("gk")  # typing is no command
    expect(page.get_by_role("searchbox").first).to_have_value("gk")


def test_the_theme_changes_at_once_and_is_kept(scene, open_page):
    _, _, oncall = scene
    page = open_page(oncall, color_scheme="light")
    page.goto("/keys")
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.locator(".person > summary").click()
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert dark != light
    page.reload()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == dark


def test_copying_gives_the_exact_text(scene, open_page):
    _, key, oncall = scene
    page = open_page(oncall, permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"/keys/{key.pk}")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == story.BAD.decode()


def test_the_list_says_that_it_has_changed_and_moves_nothing(scene, open_page):
    lot, _, oncall = scene
    page = open_page(oncall)
    page.goto("/keys")
    where = page.get_by_role("link", name="acc-20417").bounding_box()
    story.simple_key(lot, b"acc-99999", ago=90_000, error=("Broken", "b"), held=70)
    expect(page.get_by_text("the list has changed")).to_be_visible()
    assert page.get_by_role("link", name="acc-20417").bounding_box() == where
    page.get_by_role("link", name="show it").click()
    expect(page.get_by_role("link", name="acc-99999")).to_be_visible()


def test_the_page_of_a_running_replay_moves_by_itself(scene, open_page):
    lot, key, oncall = scene
    reviewer = story.person("reviewer", "second reviewer", reviewer=lot.flow)
    story.decided(key, oncall)
    running = story.started(story.requested(key, oncall), reviewer)
    page = open_page(oncall)
    page.goto(f"/replays/{running.pk}")
    button = page.get_by_role("button", name="Pause after what is in flight")
    where = button.bounding_box()
    story.sent(running, 1, 4)
    story.answered(lot, running, 3)
    expect(page.get_by_role("img", name="3 of 7 done")).to_be_visible()
    expect(page.locator("#stepper [aria-current]")).to_contain_text("3 of 7")
    assert button.bounding_box() == where
    button.click()
    expect(page.get_by_role("button", name="Resume with 3 events to go")).to_be_visible()
