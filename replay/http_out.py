"""The one module that speaks HTTP outwards: one POST, to the very addresses that were looked at, within one deadline.

Redirects are answers like any other and never followed; the environment's proxies are not used; a name is looked up
once, and what it leads to is checked and then called, so that a second answer of the name server changes nothing.
"""

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpcore2 as httpcore
from django.conf import settings

from replay import destination
from replay.destination import Allowed, Destination

SECONDS = 10.0
LONGEST_ANSWER = 64 * 1024

Resolver = Callable[[str, int], list[str]]


class NoAnswer(Exception):
    """Nothing came back: not reachable, cut off, too slow, no TLS. `sent` says whether the receiver may have it."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, header fields (names in lower case) and at most 64 KiB of the body."""

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
    parsed = destination.parse(url)
    pinned = _Pinned(parsed, time.monotonic() + (SECONDS if seconds is None else seconds), resolver)
    fields = [(name.encode(), value.encode()) for name, value in headers.items()]
    try:
        with (
            httpcore.ConnectionPool(ssl_context=tls or _system_tls(), network_backend=pinned, retries=0) as pool,
            pool.stream(
                "POST", url, headers=[*fields, (b"Content-Length", str(len(body)).encode())], content=body
            ) as got,
        ):
            return Answer(got.status, _lower(got.headers), _beginning(got.iter_stream()))
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError, UnicodeError) as error:
        raise NoAnswer(_words(error), sent=pinned.connected) from None


@cache
def _system_tls() -> ssl.SSLContext:
    return httpcore.default_ssl_context()


def _lower(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def _beginning(chunks: Iterable[bytes]) -> bytes:
    body = b""
    for chunk in chunks:
        body += chunk
        if len(body) >= LONGEST_ANSWER:
            break
    return body[:LONGEST_ANSWER]


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

    def __init__(self, to: Destination, deadline: float, resolver: Resolver) -> None:
        self.connected = False
        self._to = to
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
        found = self._resolver(self._to.host, self._to.port)
        addresses = destination.check(self._to, found, allowed())
        failure: Exception | None = None
        for address in addresses:
            try:
                stream = self._system.connect_tcp(address, self._to.port, timeout=_left(self._deadline))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            self.connected = True
            return _Bounded(stream, self._deadline)
        raise failure or httpcore.ConnectError("no address")


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
