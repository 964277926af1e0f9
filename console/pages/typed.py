"""What people type into fields."""

from parking.errors import Refused


def whole_number(name: str, text: str) -> int:
    """The number; `name` is that of the field. Raises Refused for anything else than digits."""
    text = text.replace("\0", "").strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Refused(f"{name.replace('_', ' ')}: a whole number was expected; “{text[:40]}” arrived.")
    return int(text)
