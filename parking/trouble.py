"""What is wrong, told once when it begins and once when it is over: one clear line each, never one per try."""

import structlog
from django.db import connection


class Troubles:
    """Trouble by subject (`the database`, `flow payments`). Its text says what to do."""

    def __init__(self, process: str = "intake") -> None:
        self._log = structlog.get_logger(process)
        self._now: dict[str, str] = {}

    def is_so(self, subject: str, text: str) -> None:
        if self._now.get(subject) != text:
            self._now[subject] = text
            self._log.warning("%s: %s", subject, text)

    def is_over(self, subject: str) -> None:
        if self._now.pop(subject, None) is not None:
            self._log.info("%s: works again", subject)

    def note(self) -> str:
        """All of it, for the status page."""
        return "; ".join(f"{subject}: {text}" for subject, text in sorted(self._now.items()))


ADVICE = {
    "password authentication failed": "check the user and the password in SIDING_DATABASE_URL",
    "no password supplied": "put the password into SIDING_DATABASE_URL",
    'relation "': "run manage.py migrate",
    'column "': "run manage.py migrate",
    "does not exist": "create it, or correct SIDING_DATABASE_URL",
    "refused": "start PostgreSQL, or correct the address in SIDING_DATABASE_URL",
    "timeout": "check the network between here and PostgreSQL",
    "No space left": "give PostgreSQL's disk more room",
    "resolve host": "correct the host in SIDING_DATABASE_URL",
    "translate host name": "correct the host in SIDING_DATABASE_URL",
}


def of_database(error: Exception, process: str = "intake") -> str:
    """One line for an error of the database: what it says, and what to do."""
    said = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]  # what follows may quote a row
    where = connection.settings_dict
    place = f"{where['HOST']}:{where['PORT'] or 5432}/{where['NAME']}"
    return f"{said} ({place}): {advice(said)}; {process} goes on by itself"


def advice(said: str) -> str:
    """What to do where PostgreSQL, or its client, says this."""
    return next((text for sign, text in ADVICE.items() if sign in said), "look into PostgreSQL's log")
