"""Sign in and out. A wrong name and a wrong password look the same, and guessing is slowed down."""

from ipaddress import ip_address
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from console import failed_signin

WRONG = "That name and password do not belong together. Check both and try again."
TOO_MANY = "Too many wrong passwords from here. Wait 15 minutes, then try again; nothing is locked for anybody else."


@login_not_required
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def signin(request: HttpRequest) -> HttpResponse:
    if request.headers.get("HX-Request"):  # a live part of a page whose session has ended
        return HttpResponseClientRedirect(_back_to(request))
    if request.method == "POST":
        return _try(request)
    if request.user.is_authenticated:
        return redirect(_next(request))
    return _form(request)


def _try(request: HttpRequest) -> HttpResponse:
    name, address = request.POST.get("username", ""), _address(request)
    if failed_signin.too_many(name=name, address=address):
        return _form(request, TOO_MANY, status=429)
    user = authenticate(request, username=name, password=request.POST.get("password", "")) if "\0" not in name else None
    if user is None:
        failed_signin.count(name=name, address=address)
        return _form(request, WRONG, status=422)
    login(request, user)
    return redirect(_next(request))


def _address(request: HttpRequest) -> str:
    """Who asks: behind a proxy that is trusted for https, the address that this proxy saw."""
    seen = request.headers.get("X-Forwarded-For", "") if settings.SECURE_PROXY_SSL_HEADER else ""
    last = seen.rpartition(",")[2].strip()
    try:
        return str(ip_address(last))
    except ValueError:
        return str(request.META.get("REMOTE_ADDR", ""))


def _form(request: HttpRequest, wrong: str = "", status: int = 200) -> HttpResponse:
    typed = request.POST.get("username", "")
    return render(
        request, "signin/signin.html", {"wrong": wrong, "typed": typed, "next": _next(request)}, status=status
    )


def _back_to(request: HttpRequest) -> str:
    """The form, and after it the page that the live part stood on."""
    page = urlsplit(request.headers.get("HX-Current-URL", ""))
    here = urlunsplit(("", "", page.path, page.query, ""))
    return f"{request.path}?{urlencode({'next': here})}" if here else request.path


def _next(request: HttpRequest) -> str:
    """Where to go afterwards: a page of ours, else the first one."""
    to = request.POST.get("next") or request.GET.get("next") or "/"
    ours = url_has_allowed_host_and_scheme(to, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return to if ours else "/"


@login_not_required
@require_POST
def signout(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("signin")
