"""Takes the pictures. `ARGS="key replay"` takes only those whose names contain one of the words."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

import django

django.setup()

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.db import connection, connections
from django.test import Client
from django.test.testcases import LiveServerThread
from django.test.utils import override_settings, setup_databases, setup_test_environment, teardown_databases
from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import CHROMIUM_FLAGS, chromium
from tests.screenshots.scenes import Picture, tell

FOLDER = Path(__file__).resolve().parents[2] / "screenshots"
SIZES = {"wide": (1360, 1000), "narrow": (360, 780)}
ZONE = "Europe/Berlin"


def main(words: list[str]) -> int:
    FOLDER.mkdir(exist_ok=True)
    faults = []
    with _server() as base, sync_playwright() as playwright:
        pictures = [one for one in tell() if not words or any(word in one.name for word in words)]
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*CHROMIUM_FLAGS, "--no-sandbox"])
        for theme in ("light", "dark"):
            for size in SIZES:
                faults += _take(browser, base, pictures, theme, size)
        browser.close()
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    sys.stdout.write(f"{len(pictures) * 2 * len(SIZES)} pictures in {FOLDER.name}/, {len(faults)} faults\n")
    return 1 if faults else 0


def _take(browser: Browser, base: str, pictures: list[Picture], theme: str, size: str) -> list[str]:
    faults: list[str] = []
    width, height = SIZES[size]
    for picture in pictures:
        context = browser.new_context(
            viewport={"width": width, "height": height}, timezone_id=ZONE, color_scheme=theme, base_url=base
        )  # type: ignore[arg-type]
        context.add_cookies([*_session(picture.who, base), {"name": "zone", "value": "Europe%2FBerlin", "url": base}])
        page = context.new_page()
        name = f"{picture.name}-{theme}-{size}"
        page.on("dialog", lambda dialog, name=name: faults.append(f"{name}: a dialog opened: {dialog.message}"))
        page.on("console", lambda line, name=name: _listen(line.type, line.text, name, faults))
        page.on("pageerror", lambda error, name=name: faults.append(f"{name}: {error}"))
        page.goto(picture.address)
        if picture.script:
            page.evaluate(f"() => {{ {picture.script} }}")
            page.wait_for_timeout(900)
        faults += [f"{name}: {fault}" for fault in sideways(page)]
        page.screenshot(path=FOLDER / f"{name}.png", full_page=True)
        context.close()
    return faults


def sideways(page: Page) -> list[str]:
    """Whether the page itself scrolls sideways, and what makes it wider than the window."""
    wider: list[str] = page.evaluate(
        """() => {
          const width = document.documentElement.clientWidth;
          if (document.documentElement.scrollWidth <= width) return [];
          return [...document.querySelectorAll("body *")]
            .filter((one) => one.getBoundingClientRect().right > width + 1)
            .slice(0, 5)
            .map((one) => one.tagName + "." + one.className);
        }"""
    )
    return [f"wider than the window: {', '.join(wider)}"] if wider else []


def _listen(kind: str, text: str, name: str, faults: list[str]) -> None:
    if kind == "error" and "status of 40" not in text:
        faults.append(f"{name}: {text}")


def _session(user: User | None, base: str) -> list[dict[str, str]]:
    if user is None:
        return []
    client = Client()
    client.force_login(user)
    return [{"name": settings.SESSION_COOKIE_NAME, "value": client.cookies["sessionid"].value, "url": base}]


@contextmanager
def _server() -> Iterator[str]:
    """A database of its own with nothing in it, and the console in front of it."""
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
