"""One thread that does one thing at a time, so that the thread that polls Kafka never waits."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future


class Worker:
    """A daemon thread: a handler that never returns does not keep the process from ending."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[None], Callable[[], object]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def start(self, job: Callable[[], object]) -> "Future[None]":
        """Begin `job`; the future is done when it has returned or raised."""
        future: Future[None] = Future()
        self._jobs.put((future, job))
        return future

    def end(self) -> None:
        """End the thread after what it is doing."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, call = job
            try:
                call()
            except BaseException as error:  # noqa: BLE001 -- it is raised where the future is asked
                future.set_exception(error)
            else:
                future.set_result(None)
