"""`/metrics`: for a scraper with the token or from an allowed address; for everybody else there is no such page."""

import secrets
from ipaddress import ip_address, ip_network

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE

from console import metrics as measured

BEARER = "Bearer "


@require_safe
@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    if not _has_token(request) and not _is_near(request):
        raise Http404
    try:
        return HttpResponse(measured.text(), content_type=CONTENT_TYPE)
    except Error:
        return HttpResponse("The database cannot be asked now.\n", status=503, content_type="text/plain")


def _has_token(request: HttpRequest) -> bool:
    given = request.headers.get("Authorization", "")
    if not settings.METRICS_TOKEN or not given.startswith(BEARER):
        return False
    return secrets.compare_digest(given.removeprefix(BEARER).encode(), settings.METRICS_TOKEN.encode())


def _is_near(request: HttpRequest) -> bool:
    """By the address of the connection: what a header says of another one is not believed."""
    address = request.META.get("REMOTE_ADDR") or ""
    try:
        return any(ip_address(address) in ip_network(allowed) for allowed in settings.METRICS_ALLOW)
    except ValueError:
        return False
