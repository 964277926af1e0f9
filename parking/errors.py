"""Why a verb did not do what it was asked. The message is for people: what is so, why, and what to do."""

from datetime import datetime


class Refused(Exception):
    """The rules do not allow it. Nothing was changed."""


class Conflict(Refused):
    """Somebody was faster. `who`, `at` and `what` say what happened meanwhile; nothing was changed."""

    def __init__(self, message: str, *, who: str = "", at: datetime | None = None, what: str = "") -> None:
        super().__init__(message)
        self.who = who
        self.at = at
        self.what = what
