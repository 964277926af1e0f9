"""The index process: follows what intake stores, for ever. Whatever goes away, it goes on by itself."""

import threading
import time

import structlog
from django.db import InterfaceError, OperationalError, ProgrammingError, connection

from parking.beat import beat
from parking.search import position
from parking.search.index import batch
from parking.trouble import Troubles, of_database

log = structlog.get_logger("index")

PROCESS = "index"
LOOK_EVERY = 0.5
"""Seconds between two looks for new events when there are none."""
BEAT_EVERY = 5.0


class Follow:
    """One index process. `stop` may be set by a signal; `indexed` counts the events of its life."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.indexed = 0
        self._troubles = Troubles("index")
        self._beaten = 0.0

    def run(self) -> None:
        """Until `stop` is set."""
        log.info("index follows intake")
        while not self.stop.is_set():
            self.turn()
            self.stop.wait(LOOK_EVERY)
        log.info("index ends", indexed=self.indexed)

    def turn(self) -> None:
        """Indexes what there is. Never raises for a database that is away."""
        try:
            self._beat()
            to = position.final()
            self._troubles.is_over("the store")
            while not self.stop.is_set() and (indexed := batch(to)) is not None:
                self.indexed += indexed
                self._beat()
        except position.Writing as waits:
            self._troubles.is_so("the store", str(waits))
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            self._troubles.is_so("the database", of_database(error, PROCESS))
            connection.close()
        else:
            self._troubles.is_over("the database")

    def _beat(self) -> None:
        if time.monotonic() - self._beaten > BEAT_EVERY:
            behind = position.lag()
            note = f"{'' if behind.exact else 'more than '}{behind.events} events behind"
            beat(PROCESS, "; ".join(filter(None, (note, self._troubles.note()))))
            self._beaten = time.monotonic()
