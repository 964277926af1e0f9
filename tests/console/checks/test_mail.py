"""What `manage.py check` says of the mail server."""

from collections.abc import Iterator
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink

from console.checks import mail
from console.embedded.ports import free_port
from tests.alarm_story import hook
from tests.console.story import make_flow

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def port(settings: Any) -> int:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"  # pytest-django has put in another one
    port = free_port()
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    return port


@pytest.fixture
def somebody_is_told_by_mail() -> None:
    hook(make_flow("orders").team, "owner@orders.example")


@pytest.fixture
def server(port: int) -> Iterator[None]:
    controller = Controller(Sink(), hostname="127.0.0.1", port=port)
    controller.start()
    yield
    controller.stop()


def test_nobody_is_told_by_mail() -> None:
    assert mail.look() == []


@pytest.mark.usefixtures("somebody_is_told_by_mail", "server")
def test_a_mail_server_that_answers() -> None:
    assert mail.look() == []


@pytest.mark.usefixtures("somebody_is_told_by_mail")
def test_a_closed_port(port: int) -> None:
    (fault,) = mail.look()
    assert f"127.0.0.1:{port} cannot be used" in fault.msg
    assert "SIDING_SMTP_URL" in str(fault.hint)


@pytest.mark.usefixtures("somebody_is_told_by_mail", "server")
def test_a_server_that_wants_no_login(settings: Any) -> None:
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "me", "hunter2"
    (fault,) = mail.look()
    assert "hunter2" not in str(fault)
