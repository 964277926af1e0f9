"""Add, change, test and rotate hooks. Where a URL leads to is looked at here and again at each sending."""

from datetime import timedelta

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from parking import journal
from parking.actor import Actor
from parking.errors import Refused
from parking.models import Delivery, Flow, Hook, Team
from parking.reason import required
from replay import destination, http_out
from replay.http_out import Resolver

TEST_BUDGET = timedelta(minutes=2)
LONGEST_NAME = 100


def add_hook(
    *,
    team: Team,
    name: str,
    kind: str,
    address: str,
    actor: Actor,
    reason: str,
    flow: Flow | None = None,
    fallback: bool = False,
    resolver: Resolver = http_out.resolve,
) -> Hook:
    """A new hook of a team, for one of its flows or for all of them.

    Raises Refused without a reason, for a flow of another team, a name that is taken, or an address that may not be
    called.
    """
    reason = required(reason, "what the hook is for")
    hook = Hook(
        team=team,
        flow=flow,
        name=_name(name),
        kind=kind,
        address=address.strip(),
        fallback=fallback,
        created_at=timezone.now(),
    )
    _check(hook, resolver)
    with transaction.atomic():
        _save(hook)
        _write("add hook", hook, actor, reason, {"kind": hook.kind, "fallback": hook.fallback})
    return hook


def change_hook(
    *,
    hook_id: int,
    name: str,
    address: str,
    fallback: bool,
    enabled: bool,
    actor: Actor,
    reason: str,
    resolver: Resolver = http_out.resolve,
) -> Hook:
    """The hook as it is from now on; what is still to be sent goes to the new address.

    Raises Refused like `add_hook`. The journal tells which fields changed, not the address: it may hold a secret.
    """
    reason = required(reason, "why the hook changes")
    with transaction.atomic():
        hook = Hook.objects.select_for_update(of=("self",)).select_related("team", "flow").get(pk=hook_id)
        after = {"name": _name(name), "address": address.strip(), "fallback": fallback, "enabled": enabled}
        changed = [field for field, value in after.items() if getattr(hook, field) != value]
        for field in changed:
            setattr(hook, field, after[field])
        if "address" in changed:
            _check(hook, resolver)
        _save(hook)
        _write("change hook", hook, actor, reason, {"changed": changed, "enabled": hook.enabled})
    return hook


def renew_secret(*, hook_id: int, actor: Actor, reason: str) -> Hook:
    """The hook with a new signing secret (`signing.secret`). Until the next renewal the old one is signed with too."""
    reason = required(reason, "why the secret changes")
    with transaction.atomic():
        hook = Hook.objects.select_for_update(of=("self",)).select_related("team", "flow").get(pk=hook_id)
        hook.secret_version += 1
        _save(hook)
        _write("renew secret", hook, actor, reason, {"version": hook.secret_version})
    return hook


def send_test(*, hook_id: int, actor: Actor) -> Delivery:
    """A delivery that says that nothing is wrong, due now; its answer is shown like any other."""
    times = {"created_at": Now(), "due_at": Now(), "give_up_at": Now() + TEST_BUDGET}
    with transaction.atomic():
        hook = Hook.objects.select_related("team", "flow").get(pk=hook_id)
        delivery = Delivery.objects.create(hook=hook, transition=Delivery.Transition.TEST, **times)
        delivery.refresh_from_db()
        _write("test hook", hook, actor, "", {"delivery": delivery.pk})
    return delivery


def _name(name: str) -> str:
    text = name.strip()
    if not text or len(text) > LONGEST_NAME or not text.isprintable():
        raise Refused(f"A name of 1 to {LONGEST_NAME} printable characters was expected.")
    return text


def _check(hook: Hook, resolver: Resolver) -> None:
    if hook.flow is not None and hook.flow.team_id != hook.team_id:
        raise Refused(f"The flow {hook.flow} belongs to another team: a hook only hears of its own team's flows.")
    if hook.kind == Hook.Kind.WEBHOOK:
        _check_url(hook.address, resolver)
    elif hook.kind == Hook.Kind.EMAIL:
        _check_email(hook.address)
    else:
        raise Refused(f"kind: {' or '.join(Hook.Kind.values)} was expected.")


def _check_url(address: str, resolver: Resolver) -> None:
    try:
        http_out.check(address, resolver=resolver)
    except destination.Forbidden as error:
        raise Refused(str(error)) from None


def _check_email(address: str) -> None:
    try:
        validate_email(address)
    except ValidationError:
        raise Refused("An e-mail address such as on-call@team.example was expected.") from None


def _save(hook: Hook) -> None:
    try:
        with transaction.atomic():
            hook.save()
    except IntegrityError:
        raise Refused(f"The team has a hook called {hook.name} already: choose another name.") from None


def _write(verb: str, hook: Hook, actor: Actor, reason: str, detail: dict[str, object]) -> None:
    about = {"hook": hook.pk, "name": hook.name, "team": hook.team_id, **detail}
    journal.write(actor=actor, verb=verb, flow=hook.flow, reason=reason, detail=about)
