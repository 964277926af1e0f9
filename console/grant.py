"""Gives one person one role for one flow, or takes it away."""

from django.contrib.auth.models import User
from django.db import transaction

from console.models import Grant
from parking import journal
from parking.actor import Actor
from parking.errors import Refused
from parking.models import Flow


def grant(*, user: User, flow: Flow, role: str, actor: Actor, reason: str = "") -> bool:
    """One transaction with the journal entry. False, and no entry, where it is so already. Raises Refused."""
    _known(role)
    with transaction.atomic():
        _, is_new = Grant.objects.get_or_create(user=user, flow=flow, role=role)
        if is_new:
            _write("grant", user=user, flow=flow, role=role, actor=actor, reason=reason)
    return is_new


def revoke(*, user: User, flow: Flow, role: str, actor: Actor, reason: str = "") -> bool:
    """The same, the other way round. It holds from the person's next click on."""
    _known(role)
    with transaction.atomic():
        gone, _ = Grant.objects.filter(user=user, flow=flow, role=role).delete()
        if gone:
            _write("revoke", user=user, flow=flow, role=role, actor=actor, reason=reason)
    return bool(gone)


def _known(role: str) -> None:
    if role not in Grant.Role.values:
        raise Refused(f"One of the roles {', '.join(Grant.Role.values)} was expected, {role!r} arrived.")


def _write(verb: str, *, user: User, flow: Flow, role: str, actor: Actor, reason: str) -> None:
    told = f"{user.get_username()}: {role}" + (f". {reason}" if reason else "")
    journal.write(actor=actor, verb=verb, flow=flow, reason=told, detail={"user": user.pk, "role": role})
