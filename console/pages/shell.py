"""What stands around every page: the navigation with its counts, the environment, the theme."""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from console import access
from console.pages import found
from parking.models import Incident, Quarantine
from replay.models import Replay

THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of the navigation. `meaning` colours the count; `what` says what is counted."""

    name: str
    address: str
    count: int = 0
    meaning: str = ""
    what: str = ""
    current: bool = False


def context(request: HttpRequest) -> dict[str, object]:
    """Template context of every page. Three counting queries, limited to the viewer's flows."""
    theme = request.COOKIES.get("theme", "")
    return {
        "environment": settings.ENVIRONMENT,
        "theme": theme if theme in THEMES else "",
        "places": SimpleLazyObject(lambda: places(request)),  # lazy: a page for a failure asks the database nothing
        "initials": SimpleLazyObject(lambda: initials(found.actor(request.user).name)),
    }


def places(request: HttpRequest, at: str = "") -> list[Place]:
    """The pages that there are, with how much waits on each; `at` is the path shown, else that of the request."""
    if not request.user.is_authenticated:
        return []
    flows = access.of(request.user).flow_ids()
    stopped = Quarantine.objects.visible(flows).unreleased().count()
    living = Replay.objects.living().filter(flow__in=flows).count()
    open_ones = Incident.objects.visible(flows).unresolved().count()
    path = at or request.path
    keys = ("/keys", "/events", "/retries", "/unattributed")
    return [
        Place("Overview", reverse("home"), current=path == "/"),
        Place("Keys", reverse("keys"), stopped, "poison", "stopped", path.startswith(keys)),
        Place("Errors", reverse("errors"), current=path.startswith("/errors")),
        Place("Replays", reverse("replays"), living, "moving", "not finished", path.startswith("/replays")),
        Place("Incidents", reverse("incidents"), open_ones, "poison", "not resolved", path.startswith("/incidents")),
        Place("Flows", reverse("flows"), current=path.startswith("/flows")),
    ]


def initials(name: str) -> str:
    """`on-call engineer` → `OE`; one or two letters."""
    words = [word for word in name.replace("-", " ").replace("_", " ").replace(".", " ").split() if word[0].isalnum()]
    return "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words)).upper() or "?"
