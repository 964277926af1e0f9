"""Events of `invoices-eu` and `shipments`: right ones, and each with one thing wrong. Pure."""

import json
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from console.demo.plain.failures import COUNTRIES, DEPOTS
from parking.record import Headers

CURRENCIES = {"SE": "SEK", "PL": "PLN"}


class Sent(NamedTuple):
    """One record to send."""

    key: bytes
    value: bytes
    headers: Headers


def invoice(random: Random, number: int, **changed: object) -> Sent:
    """An invoice that is right, except for the members that are given."""
    country = random.choice(COUNTRIES[:5])
    members: dict[str, object] = {
        "invoice": f"inv-{number}",
        "amount": random.randrange(200, 90_000) / 100,
        "currency": CURRENCIES.get(country, "EUR"),
        "country": country,
    }
    return _sent(random, f"inv-{number}", "InvoiceIssued", members | changed)


def shipment(random: Random, number: int, **changed: object) -> Sent:
    """A shipment that is right, except for the members that are given; None leaves a member out."""
    members: dict[str, object] = {
        "shipment": f"SHP-{number}",
        "depot": random.choice(DEPOTS),
        "weight_g": random.randrange(200, 30_000, 50),
    }
    given = {name: value for name, value in (members | changed).items() if value is not None}
    return _sent(random, f"SHP-{number}", "LabelPrinted", given)


def cut_off(sent: Sent) -> Sent:
    """The same, but its value is cut off."""
    return sent._replace(value=sent.value[: len(sent.value) * 2 // 3])


def _sent(random: Random, key: str, event_type: str, members: dict[str, object]) -> Sent:
    headers: Headers = (
        ("event-id", f"{key}-{random.getrandbits(40):010x}".encode()),
        ("event-type", event_type.encode()),
        ("content-type", b"application/json"),
    )
    return Sent(key.encode(), json.dumps(members).encode(), headers)


Make = Callable[[Random, int], Sent]
RIGHT: dict[str, Make] = {"invoices-eu": invoice, "shipments": shipment}
WRONG: dict[str, tuple[Make, ...]] = {
    "invoices-eu": (
        lambda random, number: invoice(random, number, amount=-random.randrange(1, 400)),
        lambda random, number: invoice(random, number, country="XK"),
        lambda random, number: cut_off(invoice(random, number)),
        lambda random, number: invoice(random, number, amount=None),
    ),
    "shipments": (
        lambda random, number: shipment(random, number, depot="HAM-9"),
        lambda random, number: shipment(random, number, weight_g=None),
        lambda random, number: cut_off(shipment(random, number)),
    ),
}
"""What is wrong now and then, the most usual first."""
