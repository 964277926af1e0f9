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
}


def said(verb: str, detail: Mapping[str, object]) -> tuple[str, str]:
    """`decide` with the action in its detail → ("decided", "skip"); a verb without a sentence stands for itself."""
    if verb == "decide":
        return "decided", str(detail.get("action", ""))
    if verb == "amend" and "version" in detail:
        return "decided", f"amend v{detail['version']}"
    return _TOLD.get(verb, (verb, ""))
