"""A console with the story in it, and a browser that goes from page to page."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.db import connection, connections
from django.test import Client
from django.test.testcases import LiveServerThread
from django.test.utils import override_settings, setup_databases, setup_test_environment, teardown_databases
from playwright._impl._api_structures import FloatRect, SetCookieParam
from playwright.sync_api import Browser, sync_playwright

from console.demo.life.clock import Clock, ruling
from tests.browser.faults import Faults, barriers, sideways
from tests.conftest import CHROMIUM_FLAGS, chromium
from tests.screenshots.scenes import Picture, tell

NOW = datetime(2026, 11, 17, 10, 42, 7, tzinfo=UTC)
"""The moment of all pictures: the same world, the same clock, the same pictures."""
ROOT = Path(__file__).resolve().parents[2]
FOLDER, IMAGES = ROOT / "screenshots", ROOT / "docs/images"
IN_THE_README = {"overview": 500, "key": 940, "replay": 1110}
"""How much of each is shown, in pixels from the top."""
SIZES = {"wide": (1360, 1000), "narrow": (360, 780)}
ZONE = "Europe/Berlin"
Theme = Literal["light", "dark"]


def take_all(words: list[str]) -> int:
    """Writes the pictures, the README's into docs/images as well.

    1 where a page opened a dialog, logged an error, scrolls sideways or has a barrier.
    """
    FOLDER.mkdir(exist_ok=True)
    faults: list[str] = []
    with console() as base, ruling(Clock(NOW)), sync_playwright() as playwright:
        pictures = [one for one in tell(NOW) if not words or any(word in one.name for word in words)]
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*CHROMIUM_FLAGS, "--no-sandbox"])
        themes: tuple[Theme, ...] = ("light", "dark")
        for picture in pictures:
            for theme in themes:
                for size in SIZES:
                    faults += _take(browser, base, picture, theme, size)
        browser.close()
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    sys.stdout.write(f"{len(pictures) * 4} pictures in {FOLDER.name}/, {len(faults)} faults\n")
    return 1 if faults else 0


def _take(browser: Browser, base: str, picture: Picture, theme: Theme, size: str) -> list[str]:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, timezone_id=ZONE, color_scheme=theme, base_url=base
    )
    context.add_cookies(cookies(picture.who, base))
    page = context.new_page()
    faults = Faults(page)
    page.goto(picture.address)
    if picture.script:
        page.evaluate(f"() => {{ {picture.script} }}")
        page.wait_for_timeout(900)
    name = f"{picture.name}-{theme}-{size}"
    page.screenshot(path=FOLDER / f"{name}.png", full_page=True)
    if picture.name in IN_THE_README and size == "wide":
        top = FloatRect(x=0, y=0, width=width, height=IN_THE_README[picture.name])
        page.screenshot(path=IMAGES / f"{picture.name}-{theme}.png", full_page=True, clip=top)
    found = [*faults.found, *sideways(page), *(barriers(page) if size == "wide" else [])]
    context.close()
    return [f"{name}: {fault}" for fault in found]


def cookies(user: User | None, base: str) -> list[SetCookieParam]:
    """The reader's zone, and a session where somebody is signed in."""
    zone: SetCookieParam = {"name": "zone", "value": ZONE.replace("/", "%2F"), "url": base}
    if user is None:
        return [zone]
    return [zone, {"name": settings.SESSION_COOKIE_NAME, "value": session(user), "url": base}]


@cache
def session(user: User) -> str:
    """Each is signed in once."""
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


@contextmanager
def console() -> Iterator[str]:
    """The address of a console in front of a database of its own with nothing in it."""
    setup_test_environment()
    old = setup_databases(verbosity=0, interactive=False)
    thread = LiveServerThread("127.0.0.1", StaticFilesHandler, connections_override={})
    try:
        with override_settings(ENVIRONMENT="production", ALLOWED_HOSTS=["*"]):
            thread.daemon = True
            thread.start()
            thread.is_ready.wait()
            if thread.error:
                raise thread.error
            yield f"http://{thread.host}:{thread.port}"
    finally:
        thread.terminate()
        connections.close_all()
        _forget(str(connection.settings_dict["NAME"]))
        teardown_databases(old, verbosity=0)


def _forget(database: str) -> None:
    """Ends what the server's threads left connected, or the database could not be dropped."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
            [database],
        )
