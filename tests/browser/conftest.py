"""A console on a port, and pages that are signed in."""

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.faults import Faults

PATIENCE = 60_000
"""Milliseconds for what a page does by itself: it looks every few seconds, and the machine may be busy."""
expect.set_options(timeout=PATIENCE)


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer) -> Iterator[Callable[..., Page]]:
    """open_page(user, **context) → a page of a browser of its own; at the end nothing may have gone wrong on it."""
    opened: list[tuple[BrowserContext, Faults]] = []

    def open_one(user: User | None = None, **context) -> Page:
        made = browser.new_context(base_url=live_server.url, **context)
        if user is not None:
            client = Client()
            client.force_login(user)
            session = client.cookies[settings.SESSION_COOKIE_NAME].value
            made.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        page = made.new_page()
        page.set_default_timeout(PATIENCE)
        opened.append((made, Faults(page)))
        return page

    yield open_one
    for context, _ in opened:
        context.close()  # or its pages would ask on, in the middle of the next tests
    assert [fault for _, watched in opened for fault in watched.found] == []
