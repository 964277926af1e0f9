"""A thread that forgets, now and then and slowly, what no record can bring back."""

import logging
import random
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from parking.consumer.errors import Interrupted, Unavailable
from parking.consumer.flow import Flow
from parking.consumer.insist import survive
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.purge import purge

log = logging.getLogger("parking.consumer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """Fates are kept for `keep_days` at least, and while a record may meet them. They are looked through `every` so
    many seconds, a thousand at a time, with `rest` seconds between.

    An event that its producer sends once more after its fate was forgotten is a new one.
    """

    keep_days: float = 30.0
    every: float = 3600.0
    rest: float = 0.1

    def __post_init__(self) -> None:
        if self.keep_days <= 0 or self.every <= 0 or self.rest < 0:
            raise ValueError(f"purge: expected more than 0 days and seconds, arrived {self}")


class Purger:
    """Purges the ledger of one flow until `stopping`. What cannot be told or reached is left for the next time."""

    def __init__(
        self, flow: Flow, ledger: Ledger, kafka: Mapping[str, Any], how: Purge, *, stopping: threading.Event
    ) -> None:
        self._how = how
        self._stopping = stopping
        rest = partial(self._wait, how.rest)
        self._purge = partial(purge, flow, ledger, kafka, keep_days=how.keep_days, rest=rest)
        self._said = ""
        threading.Thread(target=self._run, name="siding purge", daemon=True).start()

    def _run(self) -> None:
        try:
            self._wait(random.random() * self._how.every)  # noqa: S311 -- that many processes do not purge at once
            while True:
                self._once()
                self._wait(self._how.every)
        except Interrupted:
            return

    def _once(self) -> None:
        try:
            gone = survive(self._purge)
        except Unavailable as error:
            if str(error) != self._said:
                log.warning("%s; fates are kept until this is otherwise", error)
            self._said = str(error)
        else:
            self._said = ""
            log.info("%d old fates were forgotten", gone)

    def _wait(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise Interrupted
