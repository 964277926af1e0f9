"""The intake process: reads all parking topics in turn, for ever. Whatever goes away, it goes on by itself.

After any trouble positions are read anew from the database; nothing else is remembered.
"""

import gc
import sys
import threading
import time
from contextlib import suppress

import structlog
from confluent_kafka import KafkaException
from django.db import InterfaceError, OperationalError, ProgrammingError, connection

from parking import days
from parking.beat import beat, last
from parking.client_settings import masked
from parking.intake.flows import facts
from parking.intake.ownership import PROCESS, SILENT
from parking.intake.positions import Moved
from parking.intake.source import Source
from parking.intake.store import OtherContent
from parking.models import Cluster, Flow
from parking.topics import Unreachable
from parking.trouble import Troubles, of_database

log = structlog.get_logger("intake")

NO_DATABASE = (OperationalError, InterfaceError, ProgrammingError)
LOOK_EVERY = 3.0
SWITCH = 0.001
"""Seconds after which Python's threads take turns: an answer of the database does not wait for what is read ahead."""
SELDOM = 2_000_000
"""Objects after which Python looks for circles: more than two batches have, so that it never looks through one."""
CIRCLES_EVERY = 60.0
"""Seconds between two looks for circles: a batch leaves none, and to look took a tenth of intake's time."""
LONGEST_PAUSE = 10.0
SURE = 10.0
"""Seconds without trouble after which it is over, if no record was stored before: an idle turn proves little."""


class Intake:
    """One intake process. `stop` may be set by a signal; `stored` counts the records of its life.

    `look_every`: seconds between two looks at flows, topics and shares, and between two beats.
    """

    def __init__(self, *, look_every: float = LOOK_EVERY) -> None:
        self.look_every = look_every
        self.stop = threading.Event()
        self.stored = 0
        self._sources: dict[int, Source] = {}
        self._troubles = Troubles()
        self._looked = self._beaten = 0.0
        self._swept = time.monotonic()
        self._failed = float("-inf")
        self._pause = 0.5

    def run(self) -> None:
        """Until `stop` is set."""
        sys.setswitchinterval(SWITCH)
        gc.freeze()
        gc.set_threshold(SELDOM)
        log.info("intake reads parking topics")
        while not self.stop.is_set():
            self.turn()
        self.close()
        with suppress(*NO_DATABASE):
            last(PROCESS, silent=SILENT)  # others take its partitions at once
        log.info("intake ends", stored=self.stored)

    def close(self) -> None:
        """Leave Kafka; the database's session ends with the process, and its locks with it."""
        for source in self._sources.values():
            source.close()
        self._sources = {}

    def turn(self) -> int:
        """One look at everything, and one batch of each cluster; how many records were new."""
        try:
            new = self._turn()
        except NO_DATABASE as error:
            self._without_database(error)
            return 0
        if new or time.monotonic() - self._failed > SURE:
            self._troubles.is_over("the database")
            self._pause = 0.5
        self.stored += new
        return new

    def _turn(self) -> int:
        self._sweep()
        if time.monotonic() - self._looked > self.look_every:
            self._look()
            self._looked = time.monotonic()
        for source in self._sources.values():
            source.arrange()
        self._beat()
        reading = [source for source in self._sources.values() if source.owned]
        if not reading:
            self.stop.wait(0.1)
        return sum(self._step(source, 0.2 / len(reading)) for source in reading)

    def _step(self, source: Source, timeout: float) -> int:
        try:
            return self._read(source, timeout)
        except (Moved, Unreachable):  # go on where who was faster is; or when it answers, which the look tells
            source.forget()
            source.look()
            return 0

    def _read(self, source: Source, timeout: float) -> int:
        try:
            return source.step(timeout)
        except OtherContent as error:
            source.replaced(error)  # asks Kafka again
            return 0

    def _look(self) -> None:
        """Flows may be declared, changed and switched off at any time."""
        flows = [facts(flow) for flow in Flow.objects.filter(enabled=True)]
        wanted = {flow.cluster_id for flow in flows}
        clusters = {cluster.pk: cluster for cluster in Cluster.objects.filter(pk__in=wanted)}
        for number, known in list(self._sources.items()):
            cluster = clusters.get(number)
            if cluster is None or cluster.client_settings != known.cluster.client_settings:
                known.forget()
                known.close()
                del self._sources[number]
        for number, cluster in clusters.items():
            source = self._sources.get(number) or self._add(number, cluster)
            if source is not None:
                source.declared = [flow for flow in flows if flow.cluster_id == number]
                source.look()
        days.ensure(days.today())

    def _add(self, number: int, cluster: Cluster) -> Source | None:
        """A source for a cluster; None, and a line, where the client does not take its settings."""
        subject = f"cluster {cluster.name}"
        try:
            self._sources[number] = Source(cluster, self._troubles)
        except KafkaException as error:
            said = masked(error.args[0].str(), cluster.client_settings)
            self._troubles.is_so(subject, f"its settings are refused: {said}; correct them")
            return None
        self._troubles.is_over(subject)
        return self._sources[number]

    def _beat(self) -> None:
        """A sign of life, while Kafka answers."""
        due = time.monotonic() - self._beaten > self.look_every
        if due and all(source.answers for source in self._sources.values()):
            beat(PROCESS, self._note())
            self._beaten = time.monotonic()

    def _sweep(self) -> None:
        if time.monotonic() - self._swept > CIRCLES_EVERY:
            gc.collect()
            self._swept = time.monotonic()

    def _note(self) -> str:
        partitions = sum(len(source.owned) for source in self._sources.values())
        return "; ".join(filter(None, (f"reads {partitions} partitions", self._troubles.note())))

    def _without_database(self, error: Exception) -> None:
        self._troubles.is_so("the database", of_database(error))
        connection.close()
        for source in self._sources.values():
            source.drop()
        self._looked = self._beaten = 0.0
        self._failed = time.monotonic()
        self.stop.wait(self._pause)
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
