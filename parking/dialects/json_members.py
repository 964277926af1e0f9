"""Members of JSON that a producer wrote, by their exact type: what has another is unknown, never an exception."""

from typing import Any

from parking.record import INT64


def text(member: object) -> str | None:
    """A text that is not empty; half a surrogate pair, which no store can hold, is replaced."""
    if not isinstance(member, str) or not member:
        return None
    return member if member.isascii() else member.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def number(member: object) -> int | None:
    """A whole number from 0 to 2^63 − 1, also where it is written as a text of digits."""
    if isinstance(member, str) and member.isascii() and member.isdigit() and len(member) < 20:
        member = int(member)
    sound = isinstance(member, int) and not isinstance(member, bool) and 0 <= member < INT64
    return member if sound and isinstance(member, int) else None


def object_in(members: Any, name: str) -> dict[str, Any]:
    """The object of that name; empty where there is none."""
    member = members.get(name) if isinstance(members, dict) else None
    return member if isinstance(member, dict) else {}
