"""Who sees what and may do what: roles, their permissions, and the two questions that every page asks.

Nobody sees a flow without a grant, not even a superuser: what is not visible does not exist (404). What is visible but
not allowed is refused (403).
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404

from console.models import Grant
from parking.models import Flow

Person = AbstractBaseUser | AnonymousUser


class Permission(StrEnum):
    SEE = "see"  # that it exists: lists, counts, states, error types, the journal
    PAYLOADS = "see payloads"  # values, header values, error messages, stack traces; looking is journalled
    DECIDE = "decide"  # apply, skip
    AMEND = "amend"
    REQUEST = "request replays"
    APPROVE = "approve replays"  # and reject; never one's own
    HALT = "halt replays"  # pause, resume, cancel
    SETTINGS = "change the flow"


_EVERYBODY = frozenset({Permission.SEE})
_TRUSTED = _EVERYBODY | {Permission.PAYLOADS, Permission.HALT}

ROLES: Mapping[str, frozenset[Permission]] = {
    Grant.Role.VIEWER: _EVERYBODY,
    Grant.Role.OPERATOR: _TRUSTED | {Permission.DECIDE, Permission.AMEND, Permission.REQUEST},
    Grant.Role.REVIEWER: _TRUSTED | {Permission.APPROVE},
    Grant.Role.OWNER: frozenset(Permission),
}


@dataclass(frozen=True, slots=True)
class Access:
    """What one person may do: permissions by flow id. A flow that is not in it does not exist for this person."""

    permissions: Mapping[int, frozenset[Permission]]

    def flow_ids(self, permission: Permission = Permission.SEE) -> list[int]:
        """Ids of the flows for which the permission is held, ascending."""
        return sorted(flow for flow, held in self.permissions.items() if permission in held)

    def may(self, flow_id: int, permission: Permission) -> bool:
        return permission in self.permissions.get(flow_id, frozenset())

    def require(self, flow_id: int, permission: Permission = Permission.SEE) -> None:
        """Raises Http404 where the flow is not visible, PermissionDenied where it is and the permission is missing."""
        if not self.may(flow_id, Permission.SEE):
            raise Http404
        if not self.may(flow_id, permission):
            raise PermissionDenied(f"Your role for this flow does not let you {permission}.")


def of(user: Person) -> Access:
    """What this person may do, from the grants as they are now: one query for each request (kept on its user)."""
    known = user.__dict__.get("access")
    if not isinstance(known, Access):
        known = Access(_granted(user))
        user.__dict__["access"] = known
    return known


def _granted(user: Person) -> dict[int, frozenset[Permission]]:
    permissions: dict[int, frozenset[Permission]] = defaultdict(frozenset)
    if user.is_authenticated:
        for flow, role in Grant.objects.filter(user_id=user.pk).values_list("flow_id", "role"):
            permissions[flow] |= ROLES[role]
    return dict(permissions)


def flows(user: Person, permission: Permission = Permission.SEE) -> QuerySet[Flow]:
    """The flows for which this person holds the permission."""
    return Flow.objects.filter(pk__in=of(user).flow_ids(permission))


def people(flow_id: int, permission: Permission) -> QuerySet[User]:
    """Those who hold the permission for this flow, by name."""
    roles = [role for role, held in ROLES.items() if permission in held]
    held = Grant.objects.filter(flow=flow_id, role__in=roles)
    return User.objects.filter(is_active=True, pk__in=held.values("user")).order_by("first_name", "username")
