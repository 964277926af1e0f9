"""The little that the frame of every page asks for: the counts of the navigation, the theme."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from console.pages import shell

YEAR = 365 * 24 * 3600


@require_safe
def counts(request: HttpRequest) -> HttpResponse:
    """The navigation anew; `at` is the path of the page that it stands on."""
    at = request.GET.get("at", "")
    return render(request, "parts/nav.html", {"places": shell.places(request, at=at), "at": at})


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remember the theme in a cookie and go back; `system` forgets it."""
    to = request.POST.get("next", "")
    here = url_has_allowed_host_and_scheme(to, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    response: HttpResponseRedirect = redirect(to if here else "/")
    chosen = request.POST.get("theme", "")
    if chosen in shell.THEMES:
        response.set_cookie("theme", chosen, max_age=YEAR, samesite="Lax", secure=request.is_secure())
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response
