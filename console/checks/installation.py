"""The settings that are right each by itself and wrong together. No server is asked."""

from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's own name
from django.http.request import validate_host

from console.environment import DEVELOPMENT_KEY

FEWEST_CHARACTERS = 10
INSIDE = ("127.0.0.1", "::1", "localhost")
NEW_KEY = 'python -c "import secrets; print(secrets.token_urlsafe(50))"'


def look(**_: object) -> list[CheckMessage]:
    deployed = settings.ENVIRONMENT in ("production", "staging")
    found = [*secret_key(settings.SECRET_KEY, development=settings.ENVIRONMENT == "development")]
    found += base_url(settings.BASE_URL, settings.ALLOWED_HOSTS, deployed=deployed)
    if deployed and not (Path(str(settings.STATIC_ROOT)) / "staticfiles.json").exists():
        found.append(
            Error(
                f"Styles and scripts are not collected in {settings.STATIC_ROOT}: every page would fail.",
                hint="Run `manage.py collectstatic --noinput` as part of each installation.",
                obj="Static files",
                id="siding.E104",
            )
        )
    return found


def secret_key(key: str, *, development: bool) -> list[CheckMessage]:
    """Faults of the key that signs sessions; its length is checked when the environment is read."""
    if key == DEVELOPMENT_KEY:
        fault = "" if development else "The key is the one that everybody can read in the source."
    else:
        fault = "The key repeats few characters: it can be guessed." if len(set(key)) < FEWEST_CHARACTERS else ""
    hint = f"Set it to what `{NEW_KEY}` prints. Everybody has to sign in again then, and webhook secrets are new."
    return [Error(fault, hint=hint, obj="SIDING_SECRET_KEY", id="siding.E101")] if fault else []


def base_url(url: str, allowed: list[str], *, deployed: bool) -> list[CheckMessage]:
    """Faults of the address under which people reach the console."""
    parts, found = urlsplit(url), list[CheckMessage]()
    host = parts.hostname or ""
    if parts.path or parts.query or parts.fragment:
        found.append(
            Error(
                f"{url} has more than a host and a port: links to pages would not work.",
                hint="Give the console a host name of its own, such as https://siding.example.",
                obj="SIDING_BASE_URL",
                id="siding.E102",
            )
        )
    if not validate_host(f"[{host}]" if ":" in host else host, allowed):
        found.append(
            Error(
                f"SIDING_BASE_URL sends people to {host}, which is not answered: they would get “400 Bad Request”.",
                hint=f"Add {host} to SIDING_ALLOWED_HOSTS, or correct SIDING_BASE_URL.",
                obj="SIDING_ALLOWED_HOSTS",
                id="siding.E103",
            )
        )
    if deployed and parts.scheme != "https" and host not in INSIDE:
        found.append(
            Warning(
                f"{url} is not encrypted: passwords, sessions and payloads can be read on the way.",
                hint="Put a proxy with a certificate in front (docs/running.md) and write https:// here.",
                obj="SIDING_BASE_URL",
                id="siding.W102",
            )
        )
    return found
