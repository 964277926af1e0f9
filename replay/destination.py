"""Where HTTP may go out to: public addresses over https, and what the settings allow besides. Pure.

Whoever may set a hook's URL could otherwise make this machine call its own neighbours: metadata services, databases,
the console itself. So the rules look at the addresses that a name leads to, however the URL spells it, both when a URL
is saved and when it is used, and what is used is exactly what was looked at (replay.http_out).
"""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

LONGEST = 2000
# IPv6 prefixes that carry an IPv4 address, and where in it: RFC 6052 (NAT64), RFC 3056 (6to4), RFC 4291 (compatible).
CARRYING = (
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
    (ipaddress.IPv6Network("::/96"), 0),
)
# Not public, whatever the Python in use knows of them: RFC 6890, RFC 7526, RFC 8215.
SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "fec0::/10")))


class Forbidden(ValueError):
    """This URL or address may not be called. The message says what arrived, what is expected, and what to do."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """An address or network inside that may be reached, on one port or on all."""

    network: Network
    port: int | None = None

    @classmethod
    def parse(cls, word: str) -> "Allowed":
        """`10.1.2.3`, `10.1.0.0/16`, `127.0.0.1:9000`, `fd00::/8`, `[::1]:9000`. Raises ValueError."""
        if word.startswith("["):
            inside, _, port = word[1:].partition("]")
            return cls(ipaddress.ip_network(inside), int(port.removeprefix(":")) if port else None)
        host, _, port = word.partition(":") if word.count(":") == 1 else (word, "", "")
        return cls(ipaddress.ip_network(host), int(port) if port else None)

    def holds(self, address: Address, port: int) -> bool:
        return address in self.network and self.port in (None, port)


@dataclass(frozen=True, slots=True)
class Destination:
    """A URL in its parts, whose form is allowed; where its host leads to is not looked at yet."""

    url: str
    secure: bool
    host: str
    port: int


def parse(url: str) -> Destination:
    """The parts of a URL. Raises Forbidden unless it is a plain http or https URL without user and password."""
    if len(url) > LONGEST or not url.isascii() or any(ord(letter) <= 32 or ord(letter) == 127 for letter in url):
        raise Forbidden(f"At most {LONGEST} ASCII characters without blanks were expected as a URL.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Forbidden("A URL such as https://alerts.example/siding was expected.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or "\\" in url:
        raise Forbidden("A URL such as https://alerts.example/siding was expected.")
    if parts.username is not None or parts.password is not None:
        raise Forbidden("The URL holds a user or password; put the receiver's secret into the path, or use none.")
    secure = parts.scheme == "https"
    return Destination(url, secure, parts.hostname, port if port is not None else 443 if secure else 80)


def check(destination: Destination, addresses: Sequence[str], allowed: Iterable[Allowed]) -> list[str]:
    """The addresses that may be called: all that the host leads to. Raises Forbidden if one of them may not.

    One private address among public ones is refused as a whole: which one would be called is the name server's choice.
    """
    allowed = tuple(allowed)
    if not addresses:
        raise Forbidden(f"{destination.host} leads to no address.")
    for text in addresses:
        address = ipaddress.ip_address(text.partition("%")[0])
        if any(one.holds(address, destination.port) for one in allowed):
            continue
        if not is_public(address):
            raise Forbidden(
                f"{destination.host} leads to an address that is not public. Use a public one, or let the operator add "
                "it to SIDING_OUTBOUND_ALLOW."
            )
        if not destination.secure:
            raise Forbidden("https was expected: over http anybody on the way could read and change it.")
    return list(addresses)


def is_public(address: Address) -> bool:
    """Whether an address, and the IPv4 address that it may carry, is one of the public internet."""
    carried = _carried(address)
    if carried is not None:
        return is_public(carried)
    if any(address in network for network in SPECIAL):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved and not address.is_unspecified


def _carried(address: Address) -> ipaddress.IPv4Address | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    for network, shift in CARRYING:
        if address in network:
            return ipaddress.IPv4Address(int(address) >> shift & 0xFFFF_FFFF)
    return None
