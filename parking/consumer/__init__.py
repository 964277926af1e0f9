"""The consumer kit: what a Python service puts around its handler to take part in Siding. Needs no Django.

See docs/consumer-kit.md for an example that runs.
"""

from typing import TYPE_CHECKING, Any

from parking.attempt import ValidationError
from parking.consumer.breaker import Breaker
from parking.consumer.consumer import KeyedConsumer
from parking.consumer.counters import Counters
from parking.consumer.dependency import Dependency
from parking.consumer.disagreements import Disagreements
from parking.consumer.effect import Effect
from parking.consumer.errors import Invalid, Poison, RateLimited, Unavailable
from parking.consumer.event import Event
from parking.consumer.evidence import note
from parking.consumer.flow import Flow
from parking.consumer.ladder import AsyncLadder, Ladder
from parking.consumer.ledger.sqlite import SqliteLedger
from parking.consumer.limits import SERIAL, Limits
from parking.consumer.modes import Modes
from parking.consumer.outgoing import Outgoing, Relay
from parking.consumer.parked_share import ParkedShare
from parking.consumer.purger import Purge
from parking.consumer.tries import Retries
from parking.consumer.validator import Validator
from parking.consumer.watch import Duplicates, Watcher

if TYPE_CHECKING:
    from parking.consumer.ledger.postgres import PostgresLedger

__all__ = [
    "SERIAL",
    "AsyncLadder",
    "Breaker",
    "Counters",
    "Dependency",
    "Disagreements",
    "Duplicates",
    "Effect",
    "Event",
    "Flow",
    "Invalid",
    "KeyedConsumer",
    "Ladder",
    "Limits",
    "Modes",
    "Outgoing",
    "ParkedShare",
    "Poison",
    "PostgresLedger",
    "Purge",
    "RateLimited",
    "Relay",
    "Retries",
    "SqliteLedger",
    "Unavailable",
    "ValidationError",
    "Validator",
    "Watcher",
    "note",
]


def __getattr__(name: str) -> Any:
    """PostgresLedger only where it is asked for: a service whose ledger is in SQLite has no psycopg."""
    if name == "PostgresLedger":
        from parking.consumer.ledger.postgres import PostgresLedger

        return PostgresLedger
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
