"""Keyset pages: where the page before ended stands in the address, and nothing that stands there can do harm."""

LARGEST = 2**63 - 1


def number(text: str) -> int | None:
    """An id from an address; None where it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None
