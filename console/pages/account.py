"""The viewer's own account: password, sessions, time zone, theme, and what they may do."""

from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from console import access, failed_signin
from console.access import ROLES
from console.pages import found
from console.pages.shell_actions import YEAR
from console.zone import CHOSEN, zone_names
from parking import journal


@never_cache
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    return _page(request)


@sensitive_post_parameters()
@require_POST
def password(request: HttpRequest) -> HttpResponse:
    """Everything else that is signed in with the old password is signed out."""
    user = _user(request)
    name, address = user.get_username(), request.META.get("REMOTE_ADDR", "")
    if failed_signin.too_many(name=name, address=address):
        return _page(request, refused=["Too many wrong passwords. Wait 15 minutes, then try again."], status=429)
    form = PasswordChangeForm(user, request.POST)
    if not form.is_valid():
        if "old_password" in form.errors:
            failed_signin.count(name=name, address=address)
        return _page(request, refused=[str(text) for texts in form.errors.values() for text in texts], status=422)
    with transaction.atomic():
        form.save()
        journal.write(actor=found.actor(user), verb="change password")
    update_session_auth_hash(request, user)
    messages.success(request, "Your password is changed. Other browsers that were signed in are signed out.")
    return redirect("account")


@require_POST
def signout_everywhere(request: HttpRequest) -> HttpResponse:
    """Ends every session of this person, this one too."""
    user = _user(request)
    with transaction.atomic():
        Session.objects.filter(pk__in=_sessions(user)).delete()
        journal.write(actor=found.actor(user), verb="sign out everywhere")
    logout(request)
    return redirect("signin")


@require_POST
def zone(request: HttpRequest) -> HttpResponse:
    """Times in this zone instead of the browser's; empty goes back to the browser's."""
    chosen = request.POST.get("zone", "")
    response = redirect("account")
    if chosen in zone_names():
        response.set_cookie(CHOSEN, chosen, max_age=YEAR, samesite="Lax", secure=request.is_secure())
    else:
        response.delete_cookie(CHOSEN, samesite="Lax")
    return response


def _page(request: HttpRequest, *, refused: list[str] | None = None, status: int = 200) -> HttpResponse:
    user = _user(request)
    context = {
        "refused": refused or [],
        "grants": user.grants.select_related("flow__team").order_by("flow__name", "role"),
        "roles": {str(role): ", ".join(sorted(held)) for role, held in ROLES.items()},
        "flows": len(access.of(user).flow_ids()),
        "sessions": len(_sessions(user)),
        "zones": sorted(zone_names()),
        "chosen": request.COOKIES.get(CHOSEN, ""),
    }
    return render(request, "account/account.html", context, status=status)


def _sessions(user: User) -> list[str]:
    """Keys of this person's sessions that have not ended: looked for in all of them, because a session's is sealed."""
    living = Session.objects.filter(expire_date__gt=timezone.now()).iterator()
    return [one.session_key for one in living if one.get_decoded().get("_auth_user_id") == str(user.pk)]


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
