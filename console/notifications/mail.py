"""Send a delivery by e-mail. Its Message-ID is the delivery's for ever; a later transition answers the opening's."""

import smtplib
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

from console.notifications import notice
from console.notifications.notice import Notice
from console.notifications.verdict import Fate, Verdict
from parking.models import Delivery

LONGEST_SUBJECT = 200
SECONDS = 8  # of each word of the conversation


def send(delivery: Delivery) -> Verdict:
    """One e-mail to the hook's address."""
    told = notice.of(delivery)
    message = EmailMessage(
        subject=_subject(told),
        body=_text(told),
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[delivery.hook.address],
        headers=_headers(delivery),
        connection=get_connection(timeout=SECONDS),
    )
    try:
        message.send()
    except (smtplib.SMTPException, OSError) as error:
        return _refusal(error)
    return Verdict(Fate.DELIVERED, "the mail server took it")


def _subject(told: Notice) -> str:
    what = told.facts.get("state", "test")
    mark = told.facts["severity"] if what == "firing" else what
    line = " ".join(f"[{told.facts['environment']}] [{mark}] {told.summary}".split())
    return notice.cut(line, LONGEST_SUBJECT)


def _text(told: Notice) -> str:
    """One fact a line; a summary stands above them."""
    facts = {**told.facts, **told.facts.get("detail", {})}
    lines = [f"{name.replace('_', ' ')}: {value}" for name, value in facts.items() if _is_line(value)]
    return "\n".join([told.summary, "", *lines, ""])


def _is_line(value: Any) -> bool:
    return isinstance(value, str | int) and "\n" not in str(value)


def _headers(delivery: Delivery) -> dict[str, str]:
    headers = {"Message-ID": _message_id(delivery.webhook_id), "Auto-Submitted": "auto-generated"}
    opening = Delivery.objects.filter(incident=delivery.incident, hook=delivery.hook, transition="opened").first()
    if delivery.incident and opening and opening.pk != delivery.pk:
        headers |= dict.fromkeys(("In-Reply-To", "References"), _message_id(opening.webhook_id))
    return headers


def _message_id(webhook_id: str) -> str:
    domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].strip("<> ") or "localhost"
    return f"<{webhook_id}@{domain}>"


def _refusal(error: Exception) -> Verdict:
    """5xx about the recipient or the text is for good; what the operator can mend (sender, password) is tried again."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
        fate = Fate.FAILED if min(codes, default=0) >= 500 else Fate.AGAIN
        return Verdict(fate, "the mail server does not take the recipient", min(codes, default=None))
    if isinstance(error, smtplib.SMTPDataError):
        fate = Fate.FAILED if error.smtp_code >= 500 else Fate.AGAIN
        return Verdict(fate, "the mail server does not take the message", error.smtp_code)
    if isinstance(error, smtplib.SMTPResponseException):
        what = "password" if isinstance(error, smtplib.SMTPAuthenticationError) else "sender"
        return Verdict(Fate.AGAIN, f"the mail server does not take our {what}: see SIDING_SMTP_URL", error.smtp_code)
    if isinstance(error, TimeoutError):
        return Verdict(Fate.AGAIN, "the mail server does not answer in time")
    return Verdict(Fate.AGAIN, f"the mail server cannot be reached ({type(error).__name__}): see SIDING_SMTP_URL")
