"""The consumer kit: what a Python service puts around its handler to take part in Siding. Needs no Django.

See docs/consumer-kit.md for an example that runs.
"""

from parking.attempt import ValidationError
from parking.consumer.consumer import Consumer
from parking.consumer.effect import Effect
from parking.consumer.errors import Poison, RateLimited, Unavailable
from parking.consumer.event import Event
from parking.consumer.flow import Flow
from parking.consumer.ledger.postgres import PostgresLedger
from parking.consumer.ledger.sqlite import SqliteLedger
from parking.consumer.tries import Retries

__all__ = [
    "Consumer",
    "Effect",
    "Event",
    "Flow",
    "Poison",
    "PostgresLedger",
    "RateLimited",
    "Retries",
    "SqliteLedger",
    "Unavailable",
    "ValidationError",
]
