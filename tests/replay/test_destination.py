"""Where HTTP may go out to, and that it goes nowhere else (ALM-12)."""

import ipaddress
import shutil
import socket
import ssl
import subprocess
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from replay import destination, http_out
from replay.destination import Allowed, Forbidden

PUBLIC, METADATA = "203.0.114.7", "169.254.169.254"


class Server(ThreadingHTTPServer):
    """Answers 200 and remembers what it was called."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.hosts: list[str] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def run(self) -> None:
        Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def end(self) -> None:
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self):
        self.server.hosts.append(self.headers["host"])
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        """Requests are not worth a line each."""


@pytest.fixture
def server():
    server = Server()
    server.run()
    yield server
    server.end()


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[2002:7f00:1::]/",
        "http://[fd00::1]/",
        "http://[fe80::1%25eth0]/",
        "https://u:p@127.0.0.1/",
        "https://alerts.example@127.0.0.1/",
        "https://127.0.0.1\\@alerts.example/",
        "https://localhost/",
        "https://0.0.0.0/",
        "https://100.64.0.1/",
        "https://198.18.0.1/",
        "https://224.0.0.1/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "https:///path",
        "https://alerts.example:99999/",
        "https://alerts.example/\r\nHost: x",
        "https://аlerts.example/",
        "https://[half",
        "",
    ],
)
def test_no_spelling_leads_inside(url):
    with pytest.raises(Forbidden):
        http_out.check(url)
    with pytest.raises((Forbidden, http_out.NoAnswer)) as refused:
        http_out.post(url, b"{}", {})
    assert isinstance(refused.value, Forbidden) or not getattr(refused.value, "sent", True)


def test_public_over_https_is_allowed_and_over_http_it_is_not():
    assert http_out.check("https://alerts.example:8443/in", resolver=lambda *_: [PUBLIC]).port == 8443
    with pytest.raises(Forbidden, match="https was expected"):
        http_out.check("http://alerts.example/in", resolver=lambda *_: [PUBLIC])


def test_one_private_address_among_public_ones_refuses_all():
    with pytest.raises(Forbidden, match="not public"):
        http_out.check("https://alerts.example/", resolver=lambda *_: [PUBLIC, METADATA])


def test_a_name_that_leads_to_a_public_address_when_saved_and_to_a_private_one_when_used(server):
    answers = [[PUBLIC], ["127.0.0.1"]]
    url = f"https://alerts.example:{server.port}/"

    def rebinding(host, port):
        return answers.pop(0)

    http_out.check(url, resolver=rebinding)
    with pytest.raises(Forbidden, match="not public"):
        http_out.post(url, b"{}", {}, resolver=rebinding)
    assert server.hosts == []


def test_what_is_called_is_what_was_looked_at_and_the_name_is_looked_up_once(server, settings):
    port = server.port
    settings.OUTBOUND_ALLOW = (f"127.0.0.1:{port}",)
    looked_up = []

    def resolver(host, port):
        looked_up.append(host)
        return ["127.0.0.1"] if len(looked_up) == 1 else [METADATA]

    answer = http_out.post(f"http://alerts.example:{port}/", b"{}", {}, resolver=resolver)
    assert (answer.status, looked_up) == (200, ["alerts.example"])
    assert server.hosts == [f"alerts.example:{port}"]


def test_what_the_settings_allow_is_an_address_and_a_port(server, settings):
    port = server.port
    settings.OUTBOUND_ALLOW = ("127.0.0.1:1", "10.0.0.0/8")
    with pytest.raises(Forbidden, match="SIDING_OUTBOUND_ALLOW"):
        http_out.post(f"http://127.0.0.1:{port}/", b"{}", {})
    settings.OUTBOUND_ALLOW = (f"127.0.0.1:{port}",)
    assert http_out.post(f"http://127.0.0.1:{port}/", b"{}", {}).status == 200


def test_the_next_address_is_tried_where_one_does_not_answer(server, settings):
    port = server.port
    settings.OUTBOUND_ALLOW = ("127.0.0.0/8",)
    answer = http_out.post(f"http://alerts.example:{port}/", b"{}", {}, resolver=lambda *_: ["127.0.0.9", "127.0.0.1"])
    assert answer.status == 200


def test_the_proxies_of_the_environment_are_not_used(server, settings, monkeypatch):
    port = server.port
    settings.OUTBOUND_ALLOW = (f"127.0.0.1:{port}",)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert http_out.post(f"http://127.0.0.1:{port}/", b"{}", {}).status == 200


@pytest.mark.parametrize("word", ["10.1.2.3", "10.1.0.0/16", "127.0.0.1:9000", "fd00::/8", "[::1]:9000", "[fd00::]"])
def test_words_of_the_setting(word):
    assert Allowed.parse(word).network


@pytest.mark.parametrize("word", ["localhost", "10.1.2.3:http", "10.1.2.3/33", "", "10.1.0.1/16"])
def test_words_that_say_nothing(word):
    with pytest.raises(ValueError):
        Allowed.parse(word)


def test_what_carries_a_public_address_is_public():
    assert destination.is_public(ipaddress.ip_address("::ffff:203.0.114.7"))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_the_certificate_has_to_be_of_the_name_though_the_address_is_pinned(tmp_path, settings):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=alerts.example"]
    names = ["-addext", "subjectAltName=DNS:alerts.example", "-keyout", key, "-out", certificate]
    subprocess.run([*command, *names], check=True, capture_output=True)
    server = Server()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.run()
    port = server.port
    settings.OUTBOUND_ALLOW = (f"127.0.0.1:{port}",)
    trusting = ssl.create_default_context(cafile=str(certificate))

    def post(name, tls):
        return http_out.post(f"https://{name}:{port}/", b"{}", {}, resolver=lambda *_: ["127.0.0.1"], tls=tls)

    try:
        assert post("alerts.example", trusting).status == 200
        for name, tls in (("other.example", trusting), ("alerts.example", None)):
            with pytest.raises(http_out.NoAnswer, match="no TLS connection"):
                post(name, tls)
    finally:
        server.end()


def test_an_unknown_name_is_no_answer():
    def unknown(host, port):
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(http_out.NoAnswer, match="not known"):
        http_out.post("https://alerts.example/", b"{}", {}, resolver=unknown)


def test_a_name_server_that_does_not_answer_is_not_waited_for():
    answers = Event()

    def silent(host, port):
        answers.wait(60)
        return ["127.0.0.1"]

    began = time.monotonic()
    with pytest.raises(http_out.NoAnswer, match="no answer in time") as error:
        http_out.post("https://alerts.example/", b"{}", {}, resolver=silent, seconds=0.3)
    assert time.monotonic() - began < 20
    answers.set()
    assert not error.value.sent
