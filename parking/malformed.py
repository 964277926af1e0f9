"""The one error of everything that reads bytes from outside: where it is, what was expected, what arrived."""

SHOWN = 120


class Malformed(ValueError):
    """Something that arrived cannot be read.

    `where` names the place (``header siding-token``), `expected` what should be there, `arrived` what was there
    (shortened, printable). The message is one line that a person can act on.
    """

    def __init__(self, where: str, expected: str, arrived: object) -> None:
        self.where = where
        self.expected = expected
        self.arrived = shown(arrived)
        super().__init__(f"{where}: expected {expected}, arrived {self.arrived}")


def shown(arrived: object) -> str:
    """What arrived, on one line of at most 120 characters, without control characters or lone surrogates."""
    if arrived is None:
        return "nothing"
    try:
        text = ascii(arrived[: SHOWN + 1] if isinstance(arrived, str | bytes) else arrived)
    except (ValueError, RecursionError):  # a number of thousands of digits, a thing that contains itself too deeply
        text = f"a {type(arrived).__name__} that cannot be shown"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
