"""The one module that speaks HTTP outwards: one request, to the very addresses that were looked at, in one deadline.

Redirects are answers like any other and never followed; the environment's proxies are not used; a name is looked up
once, and what it leads to is checked and then called, so that a second answer of the name server changes nothing.
"""

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import httpcore2 as httpcore
from django.conf import settings

from replay import destination
from replay.destination import Allowed, Destination

SECONDS = 10.0
LONGEST_ANSWER = 64 * 1024
ANYWHERE = (Allowed.parse("0.0.0.0/0"), Allowed.parse("::/0"))

Resolver = Callable[[str, int], list[str]]


class NoAnswer(Exception):
    """Nothing came back: not reachable, cut off, too slow, no TLS. `sent` says whether the receiver may have it."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, header fields (names in lower case) and the beginning of the body: 64 KiB, or what was asked for."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def resolve(host: str, port: int) -> list[str]:
    """Every address of a host as text, as the system's resolver reads it. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for _, _, _, _, address in found))


def allowed() -> tuple[Allowed, ...]:
    """What the settings let out besides public addresses."""
    return tuple(map(Allowed.parse, settings.OUTBOUND_ALLOW))


def check(url: str, *, resolver: Resolver = resolve) -> Destination:
    """A URL that may be called now, for when it is saved. Raises Forbidden; also where its host is not known."""
    parsed = destination.parse(url)
    try:
        addresses = resolver(parsed.host, parsed.port)
    except (OSError, UnicodeError):
        raise destination.Forbidden(f"The name {parsed.host} is not known here: check its spelling.") from None
    destination.check(parsed, addresses, allowed())
    return parsed


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    seconds: float | None = None,
    resolver: Resolver = resolve,
    tls: ssl.SSLContext | None = None,
) -> Answer:
    """POST `body` and return the answer, whatever its status.

    Raises Forbidden if the URL, or an address that it leads to now, may not be called, NoAnswer if nothing came back
    within `seconds` (10 unless told otherwise), looking up, connecting and reading together.
    """
    pinned = _Pinned(destination.parse(url), _deadline(seconds), resolver, allowed())
    fields = {**headers, "Content-Length": str(len(body))}
    return _ask(pinned, b"POST", fields, body, tls=tls, most=LONGEST_ANSWER)


def get(
    url: str,
    headers: Mapping[str, str],
    *,
    most: int,
    seconds: float | None = None,
    tls: ssl.SSLContext | None = None,
) -> Answer:
    """GET what the operator has declared, as the brokers of a cluster are: wherever it is, inside too.

    At most that many bytes of the body. Raises Forbidden if it is no URL, NoAnswer as `post` does.
    """
    pinned = _Pinned(destination.parse(url), _deadline(seconds), resolve, ANYWHERE)
    return _ask(pinned, b"GET", headers, None, tls=tls, most=most)


def _deadline(seconds: float | None) -> float:
    return time.monotonic() + (SECONDS if seconds is None else seconds)


def _ask(
    pinned: "_Pinned",
    method: bytes,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    tls: ssl.SSLContext | None,
    most: int,
) -> Answer:
    fields = [(name.encode(), value.encode()) for name, value in headers.items()]
    url = pinned.to.url
    try:
        with (
            httpcore.ConnectionPool(ssl_context=tls or _system_tls(), network_backend=pinned, retries=0) as pool,
            pool.stream(method, url, headers=fields, content=body) as got,
        ):
            return Answer(got.status, _lower(got.headers), _beginning(got.iter_stream(), most))
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError, UnicodeError) as error:
        raise NoAnswer(_words(error), sent=pinned.connected) from None


@cache
def _system_tls() -> ssl.SSLContext:
    return httpcore.default_ssl_context()


def _lower(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def _beginning(chunks: Iterable[bytes], most: int) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) >= most:
            break
    return bytes(body[:most])


def _words(error: Exception) -> str:
    """What happened, without the URL: its path is often a secret."""
    if isinstance(error, httpcore.TimeoutException | TimeoutError):
        return "no answer in time"
    if isinstance(error, socket.gaierror):
        return "the name of the host is not known"
    if isinstance(error, httpcore.ConnectError):
        cause = str(error)
        return f"no TLS connection ({cause})" if "SSL" in cause or "CERT" in cause else f"no connection ({cause})"
    return f"the connection broke ({type(error).__name__})"


class _Pinned(httpcore.NetworkBackend):
    """Connects only to addresses that were checked; no operation gets more than what is left of the time."""

    def __init__(self, to: Destination, deadline: float, resolver: Resolver, may: Sequence[Allowed]) -> None:
        self.connected = False
        self.to = to
        self._may = may
        self._deadline = deadline
        self._resolver = resolver
        self._system = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        found = _looked_up(self._resolver, self.to, _left(self._deadline))
        addresses = destination.check(self.to, found, self._may)
        failure: Exception | None = None
        for address in addresses:
            try:
                stream = self._system.connect_tcp(address, self.to.port, timeout=_left(self._deadline))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            self.connected = True
            return _Bounded(stream, self._deadline)
        raise failure or httpcore.ConnectError("no address")


def _looked_up(resolver: Resolver, to: Destination, seconds: float) -> list[str]:
    """The addresses of a host. The system's resolver has no time limit: a thread waits for it, and nobody for that."""
    answers: SimpleQueue[list[str] | Exception] = SimpleQueue()

    def look() -> None:
        try:
            answers.put(resolver(to.host, to.port))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    Thread(target=look, daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except Empty:
        raise httpcore.ConnectTimeout("the name server does not answer") from None
    if isinstance(answer, Exception):
        raise answer
    return answer


class _Bounded(httpcore.NetworkStream):
    """A stream whose every operation ends at one deadline: a receiver that answers a byte now and then holds nobody."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._deadline))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        tls = self._stream.start_tls(ssl_context, server_hostname, _left(self._deadline))
        return _Bounded(tls, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise httpcore.ReadTimeout("no time left")
    return seconds
