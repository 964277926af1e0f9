"""Times are shown in the viewer's zone: the one chosen in the account, else what the browser names in a cookie, else
the installation's."""

from collections.abc import Callable
from functools import cache
from urllib.parse import unquote
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

COOKIE = "zone"
CHOSEN = "chosen-zone"


@cache
def zone_names() -> frozenset[str]:
    """Names of all zones. Python opens six hundred files for them each time that it is asked."""
    return frozenset(available_timezones())


class ViewerZone:
    """Middleware: activates the zone for the length of the request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = unquote(request.COOKIES.get(CHOSEN) or request.COOKIES.get(COOKIE, ""))
        if name not in zone_names():
            return self.get_response(request)
        with timezone.override(ZoneInfo(name)):
            return self.get_response(request)
