"""Threads that carry records on, so that the thread that reads Kafka never waits for a handler."""

import threading
from typing import cast

from parking.consumer.ask import Course, advance
from parking.consumer.dispatch import Dispatch


class Workers:
    """So many daemon threads: a handler that never returns does not keep the process from ending."""

    def __init__(self, dispatch: Dispatch, number: int, name: str) -> None:
        self._dispatch = dispatch
        for n in range(number):
            threading.Thread(target=self._run, name=f"{name} {n + 1}", daemon=True).start()

    def end(self) -> None:
        """The threads end with the dispatch; one whose handler does not return is abandoned."""

    def _run(self) -> None:
        while (ticket := self._dispatch.next()) is not None:
            try:
                wait = advance(cast("Course", ticket.task))
            except BaseException as error:  # noqa: BLE001 -- raised where the consumer runs
                self._dispatch.breaks(ticket, error)
            else:
                self._dispatch.worked(ticket, None if wait is None else wait.seconds)
