"""A real HTTP receiver and a real mail server on this machine, and an incident that is told to them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from aiosmtpd.controller import Controller

from console.embedded.ports import free_port
from parking import alarms
from tests.alarm_story import hook, make_flow


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Answers with what `answers` holds, the last one for ever: a status, (status, headers), or a function of the
    request handler that writes by itself."""

    answers: list[object] = field(default_factory=lambda: [204])
    got: list[Request] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/in"

    def ids(self) -> list[str]:
        return [request.headers["webhook-id"] for request in self.got]

    def answer(self, to: BaseHTTPRequestHandler) -> None:
        body = to.rfile.read(int(to.headers["content-length"]))
        self.got.append(Request(to.path, {name.lower(): value for name, value in to.headers.items()}, body))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer(to)
            return
        status, headers = answer if isinstance(answer, tuple) else (answer, {})
        to.send_response(status)
        for name, value in headers.items():
            to.send_header(name, value)
        to.send_header("content-length", "0")
        to.end_headers()


@pytest.fixture
def make_receiver(settings) -> Iterator[Callable[[], Receiver]]:
    servers = []

    def make() -> Receiver:
        receiver = Receiver()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                receiver.answer(self)

            def log_message(self, *args):
                """Requests are not worth a line each."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        receiver.port = server.server_address[1]
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        servers.append(server)
        settings.OUTBOUND_ALLOW = (*settings.OUTBOUND_ALLOW, f"127.0.0.1:{receiver.port}")
        return receiver

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def receiver(make_receiver):
    return make_receiver()


@dataclass
class MailServer:
    """Takes e-mail; `answers` are said to the recipient, one after the other, the last one for ever."""

    answers: list[str] = field(default_factory=lambda: ["250 OK"])
    got: list[bytes] = field(default_factory=list)

    async def handle_RCPT(self, server, session, envelope, address, options):
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.startswith("250"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server, session, envelope):
        self.got.append(envelope.content)
        return "250 taken"


@pytest.fixture
def mail_server(settings) -> Iterator[MailServer]:
    taken = MailServer()
    controller = Controller(taken, hostname="127.0.0.1", port=free_port())
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"  # pytest-django has put in another one
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", controller.port
    settings.DEFAULT_FROM_EMAIL = "siding@console.example"
    yield taken
    controller.stop()


@pytest.fixture
def flow(db):
    return make_flow("orders")


@pytest.fixture
def pager(flow, receiver):
    """A hook that leads to the receiver."""
    return hook(flow.team, receiver.url, name="pager")


@pytest.fixture
def incident(flow, pager):
    """An incident whose opening waits to be sent to the pager."""
    return alarms.open_incident(
        kind="gap", flow=flow, key="orders.parking/3", summary="orders: offsets 4 to 9 are gone", detail={"first": 4}
    )
