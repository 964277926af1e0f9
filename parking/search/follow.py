"""The index process: follows what intake stores, for ever. Whatever goes away, it goes on by itself."""

import gc
import threading
import time

import structlog
from django.db import InterfaceError, OperationalError, ProgrammingError, connection

from parking.beat import beat
from parking.search import position
from parking.search.index import BATCH, batch, sort
from parking.search.segments import MOST_OPEN
from parking.trouble import Troubles, of_database

log = structlog.get_logger("index")

PROCESS = "index"
LOOK_EVERY = 0.5
"""Seconds between two looks for new events when there are none."""
BEAT_EVERY = 5.0
FEW = BATCH
"""New events of one look below which there is time to build indexes: a burst is indexed first."""
SELDOM = 100_000
"""Objects after which Python looks for circles: events leave none, and to look cost a twentieth of the time."""


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
        gc.freeze()
        gc.set_threshold(SELDOM)
        while not self.stop.is_set():
            if not self.turn():
                self.stop.wait(LOOK_EVERY)
        log.info("index ends", indexed=self.indexed)

    def turn(self) -> bool:
        """Indexes what there is; whether there may be more to do at once. Never raises for a database that is away."""
        more = False
        try:
            self._beat()
            to = position.final()
            self._troubles.is_over("the store")
            before = self.indexed
            while not self.stop.is_set() and (indexed := batch(to)) is not None:
                self.indexed += indexed
                sort(most=MOST_OPEN)
                self._beat()
            more = not self.stop.is_set() and self.indexed - before < FEW and sort()
        except position.Writing as waits:
            self._troubles.is_so("the store", str(waits))
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            self._troubles.is_so("the database", of_database(error, PROCESS))
            connection.close()
        else:
            self._troubles.is_over("the database")
        return more

    def _beat(self) -> None:
        if time.monotonic() - self._beaten > BEAT_EVERY:
            behind = position.lag()
            note = f"{'' if behind.exact else 'more than '}{behind.events} events behind"
            beat(PROCESS, "; ".join(filter(None, (note, self._troubles.note()))))
            self._beaten = time.monotonic()
