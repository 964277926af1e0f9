"""A reason that a person typed."""

from parking.errors import Refused

LONGEST = 2000


def required(reason: str, what: str) -> str:
    """The reason without blanks around it. Raises Refused if it is empty, too long or not text that can be stored."""
    text = reason.strip()
    if not text:
        raise Refused(f"A reason is needed: write {what}.")
    return optional(text)


def optional(reason: str) -> str:
    """The reason without blanks around it, which may be empty. Raises Refused if it cannot be stored."""
    text = reason.strip()
    if len(text) > LONGEST:
        raise Refused(f"The reason has {len(text)} characters; at most {LONGEST} fit.")
    if "\0" in text or not _is_text(text):
        raise Refused("The reason contains characters that are no text (NUL or half a surrogate pair): remove them.")
    return text


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
