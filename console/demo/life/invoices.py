"""Cases of the flows without a gate, `invoices-eu` and `shipments`: each event that fails is parked by itself. Pure."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

from console.demo.life.arrivals import milliseconds
from console.demo.life.cases import Case, Event, Remedy
from console.demo.plain.events import Sent, cut_off, invoice, shipment
from console.demo.plain.failures import SERVICES, Fault, invoice_fault, parked
from parking import partitioner
from parking.record import Record

OLD_COUNTRIES = ("DE", "FR", "SE", "PL", "AT")
"""Those with a tax rate before XI had one."""
NOT_YET = Remedy("apply", "the tax rate of XI was loaded")


class Invoices:
    """Makes cases of both flows; the same random numbers make the same ones."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._offsets: dict[tuple[str, int], int] = {}
        self._number = {"invoices-eu": 70_300, "shipments": 5_500}

    def case(self, flow: str, at: datetime, *, events: int = 1, trouble: "Make | None" = None) -> Case:
        """So many failed events of one key, seconds apart."""
        self._number[flow] += self._random.randrange(1, 9)
        make = trouble or self._random.choice(TROUBLES[flow])
        case = Case(flow, b"")
        for _ in range(events):
            sent, remedy = make(self._random, self._number[flow])
            case.key = sent.key
            self._add(case, at, sent, remedy)
            at += timedelta(seconds=self._random.uniform(3, 300))
        return case

    def _add(self, case: Case, at: datetime, sent: Sent, remedy: Remedy) -> None:
        service = SERVICES[case.flow]
        number = partitioner.partition(sent.key, 3)
        offset = self._offsets.get((case.flow, number), 90_000) + self._random.randrange(1, 60)
        self._offsets[case.flow, number] = offset
        record = Record(case.flow, number, offset, milliseconds(at) - 2_400, sent.key, sent.value, sent.headers)
        fault = self._fault(case.flow, sent)
        event_id = (sent.headers[0][1] or b"").decode()
        case.events.append(Event(at, event_id, parked(service, record, fault), poison=True))
        case.remedies[event_id] = remedy

    def _fault(self, flow: str, sent: Sent) -> Fault:
        found = invoice_fault(sent.value, OLD_COUNTRIES) if flow == "invoices-eu" else SERVICES[flow].fault(sent.value)
        assert found is not None, f"{sent.value!r} does not fail"
        return found


def _mended(sent: Sent, reason: str, **right: object) -> Remedy:
    return Remedy("amend", reason, json.dumps({**json.loads(sent.value), **right}).encode())


def no_tax_rate(random: Random, number: int) -> tuple[Sent, Remedy]:
    return invoice(random, number, country="XI"), NOT_YET


def negative(random: Random, number: int) -> tuple[Sent, Remedy]:
    amount = random.randrange(1, 400)
    sent = invoice(random, number, amount=-amount)
    return sent, _mended(sent, "a credit note was issued as an invoice: sign corrected", amount=amount)


def cut_off_invoice(random: Random, number: int) -> tuple[Sent, Remedy]:
    return cut_off(invoice(random, number)), Remedy("skip", "cut off; the ERP has sent it again")


def unknown_depot(random: Random, number: int) -> tuple[Sent, Remedy]:
    sent = shipment(random, number, depot="HAM-9")
    return sent, _mended(sent, "HAM-9 was merged into HAM-2", depot="HAM-2")


def depot_not_known_yet(random: Random, number: int) -> tuple[Sent, Remedy]:
    return shipment(random, number, depot="HAM-9"), Remedy("apply", "the label service was told of HAM-9")


def no_weight(random: Random, number: int) -> tuple[Sent, Remedy]:
    sent = shipment(random, number, weight_g=None)
    return sent, _mended(sent, "weighed again", weight_g=random.randrange(200, 30_000, 50))


def cut_off_shipment(random: Random, number: int) -> tuple[Sent, Remedy]:
    return cut_off(shipment(random, number)), Remedy("skip", "cut off; the label was printed by hand")


Make = Callable[[Random, int], tuple[Sent, Remedy]]
TROUBLES: dict[str, tuple[Make, ...]] = {
    "invoices-eu": (negative, negative, no_tax_rate, cut_off_invoice),
    "shipments": (unknown_depot, unknown_depot, no_weight, cut_off_shipment),
}
