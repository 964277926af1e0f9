"""The verbs of the journal as they are told: (what somebody did, the word that matters)."""

from collections.abc import Mapping

_TOLD = {
    "approve": ("approved the replay", ""),
    "reject": ("rejected the replay", ""),
    "request": ("asked for the replay", ""),
    "cancel": ("cancelled the replay", ""),
    "pause": ("paused the replay", ""),
    "resume": ("let the replay go on", ""),
    "expire": ("let the replay expire: nobody approved it in time", ""),
    "complete": ("completed the replay", ""),
    "stop": ("stopped the replay", ""),
    "end cancelled": ("ended the cancelled replay", ""),
    "late outcome": ("got a late outcome", ""),
    "look": ("looked at the payload", ""),
    "released": ("noted the release", ""),
    "returned": ("put the event back", ""),
    "infer": ("inferred what became of the event", ""),
    "start": ("started the replay", ""),
    "follow": ("took newly held events along", ""),
    "declare": ("declared", ""),
    "grant": ("gave a role", ""),
    "revoke": ("took a role away", ""),
    "gap": ("found a gap in the parking topic", ""),
    "scrub": ("scrubbed payloads", ""),
    "drop day": ("dropped a whole day of settled events", ""),
    "acknowledge": ("acknowledged an incident", ""),
    "escalate": ("escalated an incident", ""),
    "silence": ("kept an alarm silent", ""),
    "end silence": ("ended a silence", ""),
    "resolve": ("resolved an incident", ""),
    "send again": ("sent pages again", ""),
    "change alarm rule": ("changed an alarm", ""),
    "change retention": ("changed the retention", ""),
    "change password": ("changed their password", ""),
    "sign out everywhere": ("signed out everywhere", ""),
}
_NAMED = {
    "add hook": "added the hook",
    "change hook": "changed the hook",
    "renew secret": "renewed the secret of the hook",
    "test hook": "sent a test to the hook",
}
VERBS = sorted({"decide", "amend", "assign", "triage", *_TOLD, *_NAMED})
"""Everything that the journal tells of, as a filter offers it."""


def said(verb: str, detail: Mapping[str, object]) -> tuple[str, str]:
    """`decide` with the action in its detail → ("decided", "skip"); a verb without a sentence stands for itself."""
    if verb == "decide":
        return "decided", str(detail.get("action", ""))
    if verb == "amend" and "version" in detail:
        return "decided", f"amend v{detail['version']}"
    if verb == "assign":
        return ("assigned the key to", str(detail["to"])) if detail.get("to") else ("left the key to others", "")
    if verb == "triage":
        return _triaged(detail)
    if verb in _NAMED:
        return _NAMED[verb], str(detail.get("name", ""))
    return _TOLD.get(verb, (verb, ""))


def _triaged(detail: Mapping[str, object]) -> tuple[str, str]:
    """What weighs most of what was said of an error: its status, else whose it is, else the note."""
    if "status" in detail:
        return "said that the error is", _status(detail)
    if "owner_name" in detail:
        return ("gave the error to", str(detail["owner_name"])) if detail["owner_name"] else ("gave the error away", "")
    return ("noted of the error", str(detail["note"])) if detail.get("note") else ("removed the note of the error", "")


def _status(detail: Mapping[str, object]) -> str:
    status = str(detail["status"])
    if status == "ignored":
        return f"ignored until {str(detail.get('opens_after'))[:10]}"
    return f"resolved in {detail.get('version')}" if status == "resolved" else status
