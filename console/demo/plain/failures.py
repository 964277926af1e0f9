"""What of the events of `invoices-eu` and `shipments` fails, how, and the record that is parked then. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from console.demo.plain import records
from console.demo.plain.records import Value
from parking.record import Record
from parking.wire import Wire

COUNTRIES = ("DE", "FR", "SE", "PL", "AT", "XI")
"""Countries with a tax rate. XI was missing for a while: events that failed for it then go through now."""
DEPOTS = ("HAM-2", "LYS-1", "MMX-4", "GDN-1")
BILLING = "com.example.billing"


class Fault(NamedTuple):
    """Why an event fails: the producer's form, and what fills it."""

    form: str
    error: str
    message: str


def invoice_fault(value: bytes | None, countries: tuple[str, ...] = COUNTRIES) -> Fault | None:
    """Why the invoice fails; None if it does not."""
    members = _members(value)
    if members is None:
        size = len(value or b"")
        return Fault("unreadable", "java.lang.IllegalArgumentException", f"not a billing record: {size} chars")
    amount, country = members.get("amount"), members.get("country")
    if not isinstance(amount, int | float) or amount <= 0:
        return Fault("retries", f"{BILLING}.InvalidAmountException", f"amount must be positive: {json.dumps(amount)}")
    if country not in countries:
        return Fault(
            "listener",
            f"{BILLING}.TaxRateMissingException",
            f"no tax rate for country {country} on the day of delivery",
        )
    return None


def shipment_fault(value: bytes | None) -> Fault | None:
    """Why the shipment fails; None if it does not."""
    members = _members(value)
    if members is None:
        return Fault("unreadable", "", "")
    if not isinstance(members.get("weight_g"), int):
        return Fault("transform", "org.apache.kafka.connect.errors.DataException", 'field "weight_g" is missing')
    if members.get("depot") not in DEPOTS:
        return Fault("put", "java.lang.IllegalStateException", "label service answered 422: unknown depot")
    return None


def _members(value: bytes | None) -> dict[str, Any] | None:
    try:
        members = json.loads(value or b"")
    except ValueError:
        return None
    return members if isinstance(members, dict) else None


@dataclass(frozen=True)
class Service:
    """One flow: its producer's forms, its consumer group, its rule, and what its parked records name."""

    flow: str
    producer: str
    group: str
    fault: Callable[[bytes | None], Fault | None]
    names: Mapping[str, str]

    @property
    def parking_topic(self) -> str:
        return f"{self.flow}.parking"


SERVICES = {
    "invoices-eu": Service("invoices-eu", "spring", "billing", invoice_fault, {"group": "billing"}),
    "shipments": Service(
        "shipments", "connect", "connect-shipments-sink", shipment_fault, {"connector": "shipments-sink"}
    ),
}


def parked(service: Service, record: Record, fault: Fault) -> Wire:
    """The record that the service's framework writes to the parking topic about a record that failed."""
    sent = record.timestamp_ms
    values: dict[str, Value] = {
        **service.names,
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "sent": sent,
        "error": fault.error,
        "message": fault.message,
        **{f"backoff{number}": sent + number * 700 for number in (1, 2, 3)},
    }
    added = records.added(service.producer, fault.form, values)
    return Wire(record.key, record.value, (*record.headers, *added))
