"""Say what is to happen with an error group: its status, who is on it, what is known of it."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from parking import journal, storable
from parking.actor import Actor
from parking.errors import Conflict, Refused
from parking.models import ErrorGroup, Triage
from parking.moment import said
from parking.reason import optional, required

LONGEST = timedelta(days=366)
WHY = {
    Triage.Status.IGNORED: "why nobody needs to look at it until then",
    Triage.Status.RESOLVED: "what was done about it",
}
Words = dict[str, str | datetime | None]
SAID = ("status", "opens_after", "version", "owner_id", "owner_name", "note")


def triage(
    *,
    error_group_id: int,
    status: str,
    owner: Actor | None,
    note: str,
    seen: str,
    actor: Actor,
    reason: str = "",
    until: datetime | None = None,
    version: str = "",
) -> Triage:
    """What is said of the group from now on. `until` counts for *ignored*, `version` for *resolved*.

    `seen` is `Triage.seen` of what the person saw. Raises Conflict where somebody said something else meanwhile, or
    the group came back; Refused where the status is unknown or lacks its date, version or reason.
    """
    reason = required(reason, WHY[Triage.Status(status)]) if status in WHY else optional(reason)
    wanted = _wanted(status, until, version, owner, note)
    with transaction.atomic():
        group = ErrorGroup.objects.select_related("flow").get(pk=error_group_id)
        row = _locked(group)
        wanted["opens_after"] = _opens_after(row, wanted)
        before = {name: getattr(row, name) for name in SAID}
        if before == wanted and not row.came_back:
            return row
        _refuse_what_was_not_seen(row, seen)
        now = timezone.now()
        by = {"actor_id": actor.id, "actor_name": storable.text(actor.name, 149), "at": now}
        for name, value in {**wanted, **by, "revision": row.revision + 1}.items():
            setattr(row, name, value)
        row.save()
        detail = {"error": group.pk, **_changes(before, wanted)}
        journal.write(actor=actor, verb="triage", flow=group.flow, reason=reason, detail=detail)
    return row


def _locked(group: ErrorGroup) -> Triage:
    """Its own row, so that intake, which counts in the group's, never waits for a person."""
    Triage.objects.get_or_create(error_group=group)
    row = Triage.objects.select_for_update(of=("self",)).select_related("error_group").get(pk=group.pk)
    row.error_group.refresh_from_db(fields=["last_seen"])
    return row


def _wanted(status: str, until: datetime | None, version: str, owner: Actor | None, note: str) -> Words:
    if status not in Triage.Status.values:
        raise Refused(f"status: {', '.join(Triage.Status.values)} was expected.")
    resolved = status == Triage.Status.RESOLVED
    return {
        "status": status,
        "opens_after": _date(until) if status == Triage.Status.IGNORED else None,
        "version": _version(version) if resolved else "",
        "owner_id": owner.id if owner else "",
        "owner_name": storable.text(owner.name, 149) if owner else "",
        "note": _note(note),
    }


def _date(until: datetime | None) -> datetime:
    now = timezone.now()
    if until is None or not now < until <= now + LONGEST:
        raise Refused("Ignored until: a date in the future was expected, at most a year from now.")
    return until


def _version(version: str) -> str:
    text = version.strip()
    if not text or len(text) > 100 or storable.text(text) != text:
        raise Refused("Resolved in: the version that has the repair was expected, in at most 100 characters.")
    return text


def _note(note: str) -> str:
    try:
        return optional(note.replace("\r\n", "\n"))
    except Refused as refused:
        raise Refused(f"{refused} (in the note)")


def _opens_after(row: Triage, wanted: Words) -> str | datetime | None:
    """A resolution counts from when it was said; saying it again of what did not come back moves nothing."""
    if wanted["status"] != Triage.Status.RESOLVED:
        return wanted["opens_after"]
    same = row.status == wanted["status"] and row.version == wanted["version"] and not row.came_back
    return row.opens_after if same else timezone.now()


def _refuse_what_was_not_seen(row: Triage, seen: str) -> None:
    if row.seen == seen:
        return
    if row.seen.partition("-")[0] == seen.partition("-")[0]:
        at = row.error_group.last_seen
        raise Conflict(f"It came back meanwhile: another event arrived at {said(at)}.", at=at, what="came back")
    what = f"{row.status}{f' in {row.version}' if row.version else ''}, owner: {row.owner_name or 'nobody'}"
    who = row.actor_name or "Somebody"
    raise Conflict(f"{who} was faster, at {said(row.at)}: {what}.", who=row.actor_name, at=row.at, what=what)


def _changes(before: Words, after: Words) -> dict[str, str | None]:
    """What is other now, by name, for the journal; of a status always all of it."""
    changed = {name for name in SAID if before[name] != after[name]}
    if "opens_after" in changed:
        changed |= {"status", "version"}
    told = {name: after[name] for name in SAID if name in changed}
    return {name: at.isoformat() if isinstance(at, datetime) else at for name, at in told.items()}
