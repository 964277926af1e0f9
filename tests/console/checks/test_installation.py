"""What `manage.py check` says of settings that are right each by itself and wrong together."""

from pathlib import Path
from typing import Any

import pytest

from console.checks import installation
from console.environment import DEVELOPMENT_KEY

KEY = "QWERTZUIOPasdfghjkl1234567890-QWERTZUIOPasdfghjkl1234567890"


@pytest.mark.parametrize(
    ("key", "development", "said"),
    [
        (KEY, False, ""),
        (DEVELOPMENT_KEY, True, ""),
        (DEVELOPMENT_KEY, False, "everybody can read"),
        ("ab" * 40, False, "repeats few characters"),
        ("ab" * 40, True, "repeats few characters"),
    ],
)
def test_the_key_that_signs_sessions(key: str, development: bool, said: str) -> None:
    found = installation.secret_key(key, development=development)
    assert bool(found) == bool(said)
    assert all(said in fault.msg and "token_urlsafe" in str(fault.hint) and key not in str(fault) for fault in found)


@pytest.mark.parametrize(
    ("url", "allowed", "deployed", "ids"),
    [
        ("https://siding.example", ["siding.example"], True, []),
        ("http://127.0.0.1:8000", ["127.0.0.1"], True, []),
        ("http://[::1]:8000", ["[::1]"], True, []),
        ("https://siding.example", [".example"], True, []),
        ("http://siding.example", ["siding.example"], False, []),
        ("http://siding.example", ["siding.example"], True, ["siding.W102"]),
        ("https://siding.example", ["127.0.0.1"], True, ["siding.E103"]),
        ("https://tools.example/siding", ["tools.example"], True, ["siding.E102"]),
    ],
)
def test_where_people_reach_the_console(url: str, allowed: list[str], deployed: bool, ids: list[str]) -> None:
    found = installation.base_url(url, allowed, deployed=deployed)
    assert [fault.id for fault in found] == ids
    assert all(fault.hint for fault in found)


def test_styles_that_were_not_collected(settings: Any, tmp_path: Path) -> None:
    settings.ENVIRONMENT, settings.SECRET_KEY, settings.STATIC_ROOT = "production", KEY, tmp_path
    settings.BASE_URL, settings.ALLOWED_HOSTS = "http://127.0.0.1:8000", ["127.0.0.1"]
    (fault,) = installation.look()
    assert "manage.py collectstatic" in str(fault.hint)
    (tmp_path / "staticfiles.json").touch()
    assert installation.look() == []
