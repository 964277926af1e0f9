"""The list of pending retries in a browser: no barrier, and no sideways scrolling on a phone."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.faults import barriers, sideways
from tests.console import story
from tests.console.pages.test_retries import waits

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize(("width", "theme"), [(1360, "light"), (1360, "dark"), (360, "light")])
def test_the_list_has_no_barrier_and_fits(transactional_db, kafka, open_page, width, theme):
    flow = story.make_flow("disputes", bootstrap=kafka)
    waits(flow, "order-1" + "7" * 60)
    waits(flow, "order-2", attempts=None, error_type="", error_message="")
    page = open_page(
        story.person("oncall", operator=flow), color_scheme=theme, viewport={"width": width, "height": 780}
    )
    page.goto("/retries")
    assert barriers(page) == []
    assert sideways(page) == []
    page.goto("/keys")
    page.get_by_role("link", name="2 pending retries").click()
    expect(page).to_have_url(re.compile("/retries$"))
