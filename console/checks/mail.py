"""The mail server, where somebody is told by e-mail: answers, and takes our login. Nothing is sent."""

from contextlib import closing
from smtplib import SMTPException

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.mail import get_connection
from django.db import Error as DatabaseFault

from parking.models import Hook

SECONDS = 5


def look(**_: object) -> list[CheckMessage]:
    try:
        needed = Hook.objects.filter(enabled=True, kind=Hook.Kind.EMAIL).exists()
    except DatabaseFault:
        return []  # which the check of the database says
    return faults() if needed else []


def faults() -> list[CheckMessage]:
    try:
        with closing(get_connection(timeout=SECONDS)) as server:
            server.open()
    except (OSError, SMTPException) as error:
        return [
            Error(
                f"The mail server {settings.EMAIL_HOST}:{settings.EMAIL_PORT} cannot be used: {error}",
                hint="Correct SIDING_SMTP_URL (smtp://user:password@host:587?tls=start), or disable the e-mail hooks.",
                obj="SIDING_SMTP_URL",
                id="siding.E501",
            )
        ]
    return []
