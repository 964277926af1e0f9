"""An event loop that carries records on whose handler is `async def`: as many in flight as there are, on one thread.

What talks to the ledger and to Kafka blocks, and runs on a few threads beside it.
"""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from parking.consumer.ask import Course, Handle, Wait, cancelled
from parking.consumer.dispatch import Dispatch
from parking.consumer.schedule import Ticket

THREADS = 8


class Coroutines:
    """A daemon thread with an event loop."""

    def __init__(self, dispatch: Dispatch, name: str) -> None:
        self._dispatch = dispatch
        self._loop = asyncio.new_event_loop()
        self._blocking = ThreadPoolExecutor(THREADS, thread_name_prefix=name)
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        dispatch.changed = self._changed
        threading.Thread(target=self._loop.run_forever, name=name, daemon=True).start()

    def end(self) -> None:
        """End the thread; what still runs there is abandoned."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._blocking.shutdown(wait=False, cancel_futures=True)

    def _changed(self) -> None:
        self._loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        """Start whatever may start, and look again when the next one is due."""
        while True:
            ticket, due = self._dispatch.take()
            if ticket is None:
                break
            task = self._loop.create_task(self._carry(ticket))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if due is None else self._loop.call_later(due, self._start)

    async def _carry(self, ticket: Ticket) -> None:
        try:
            wait = await self._advance(cast("Course", ticket.task))
        except BaseException as error:  # noqa: BLE001 -- raised where the consumer runs
            self._dispatch.breaks(ticket, error)
        else:
            self._dispatch.worked(ticket, None if wait is None else wait.seconds)

    async def _advance(self, course: Course) -> Wait | None:
        """What `ask.advance` does, without blocking the loop."""
        try:
            ask = next(course)
            while not isinstance(ask, Wait):
                try:
                    if isinstance(ask, Handle):
                        answer = await ask.call()
                    else:
                        answer = await self._loop.run_in_executor(self._blocking, ask.call)
                except asyncio.CancelledError as error:
                    ask = course.throw(cancelled(ask, error))
                except Exception as error:  # noqa: BLE001 -- whatever it is, the course decides
                    ask = course.throw(error)
                else:
                    ask = course.send(answer)
        except StopIteration:
            return None
        return ask
