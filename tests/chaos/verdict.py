"""When all is quiet, and what is not as it must be then. Three witnesses: source topic, service, console."""

from dataclasses import dataclass

import psycopg

from console.demo.check import seen
from console.demo.check.audit import Parked, deviations, unfinished
from parking.models import EventState, Quarantine

SQL_STILL_HELD = "SELECT count(*) FROM siding_fate WHERE flow = %s AND state = 'held'"
SQL_QUARANTINED = "SELECT count(*) FROM siding_hold WHERE flow = %s AND quarantined"
SQL_UNTOLD = "SELECT count(*) FROM siding_announcement WHERE flow = %s"
SQL_FATES = "SELECT event_id, state FROM siding_fate WHERE flow = %s"


@dataclass(frozen=True)
class Place:
    """Where the witnesses are asked."""

    flow: str
    bootstrap_servers: str
    service_database: str


def restless(at: Place) -> list[str]:
    """What still goes on, a line each."""
    quarantines = Quarantine.objects.filter(flow__name=at.flow).exclude(state="released").count()
    with psycopg.connect(at.service_database) as service:
        held, quarantined, untold = (
            service.execute(sql, [at.flow]).fetchall()[0][0] for sql in (SQL_STILL_HELD, SQL_QUARANTINED, SQL_UNTOLD)
        )
    sent = seen.sent(at.bootstrap_servers, at.flow)
    waiting = unfinished(sent=sent, effects=seen.effects(at.service_database), parked=seen.parked(at.flow))
    lines = {
        "quarantines are not released in the console": quarantines,
        "events are held in the service's ledger": held,
        "keys are quarantined in the service's ledger": quarantined,
        "announcements are not sent": untold,
        "records have neither an effect nor a place in the console": len(waiting),
    }
    return [f"{number} {what}" for what, number in lines.items() if number]


def violations(at: Place) -> list[str]:
    """A line for each thing that is not as it must be, now that all is quiet."""
    parked, effects = seen.parked(at.flow), seen.effects(at.service_database)
    sent = seen.sent(at.bootstrap_servers, at.flow)
    return [
        *restless(at),
        *deviations(sent=sent, effects=effects, parked=parked),
        *_ledger_says_otherwise(at, parked),
    ]


def _ledger_says_otherwise(at: Place, parked: list[Parked]) -> list[str]:
    with psycopg.connect(at.service_database) as service:
        fates = {bytes(event_id).decode(): state for event_id, state in service.execute(SQL_FATES, [at.flow])}
    return [
        f"event {event.event_id} is {event.state} in the console and {fates.get(event.event_id)} in the ledger"
        for event in parked
        if event.state != fates.get(event.event_id)
    ]


def counts(at: Place) -> dict[str, int]:
    """How much there was of it."""
    states = EventState.objects.filter(flow__name=at.flow)
    return {
        "events": len(seen.sent(at.bootstrap_servers, at.flow)),
        "replays": states.filter(steps__isnull=False).values("steps__replay").distinct().count(),
        "released": Quarantine.objects.filter(flow__name=at.flow, state="released").count(),
    }
