"""The ladder of modes: who decides about an event, a model or the old deterministic handler, and who only watches.

*autonomous*: the model's handler acts. *shadow*: the old handler acts, the model's decides on the same events without
effect, and disagreements are reported by key. *fallback*: the old handler acts, alone.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import Context
from functools import partial
from typing import Any, cast

from parking.consumer.aside import Aside
from parking.consumer.breaker import Breaker
from parking.consumer.dependency import Dependency
from parking.consumer.disagreements import Disagreements
from parking.consumer.effect import Effect, effect
from parking.consumer.errors import Poison, RateLimited, Unavailable
from parking.consumer.event import Event
from parking.consumer.evidence import note
from parking.consumer.modes import AUTONOMOUS, FALLBACK, FLOW, SHADOW, Modes
from parking.consumer.parked_share import ParkedShare, Window
from parking.consumer.tries import AnyHandler, is_async
from parking.consumer.watch import Watcher

log = logging.getLogger("parking.consumer")
MOST_IN_THE_SHADOW = 100
MOST_AT_WORK = 10_000
"""Of so many events that the model was asked about last it is known that it was."""


class Ladder(Watcher):
    """The handler of a flow whose model is on a ladder, and a watcher of what became of its decisions.

    `scopes` names the scopes of an event besides the flow (`modes.event_type`, `modes.tenant`). The handlers' results
    (`Effect.result`) are what is compared in the shadow, whose handler must not do anything but decide. For handlers
    that are `async def` there is `AsyncLadder`.
    """

    def __init__(
        self,
        modes: Modes,
        disagreements: Disagreements,
        *,
        autonomous: AnyHandler,
        fallback: AnyHandler,
        scopes: Callable[[Event], Iterable[str]] = lambda event: (),
        parked_share: ParkedShare | None = None,
    ) -> None:
        self._expect(autonomous, fallback)
        self.modes = modes
        self.disagreements = disagreements
        self._autonomous: Callable[[Event], Any] = autonomous
        self._fallback: Callable[[Event], Any] = fallback
        self._scopes = scopes
        self._parked_share = parked_share
        self._window = Window(parked_share or ParkedShare())
        self._acted: dict[tuple[str, int], tuple[str, ...]] = {}
        self._models: list[Dependency] = []
        self._lock = threading.Lock()
        self._shadow = ThreadPoolExecutor(4, thread_name_prefix="siding shadow")
        self._in_the_shadow: set[Any] = set()
        self._aside = Aside()
        self.unjudged = 0

    def __call__(self, event: Event) -> Effect:
        """The decision of whoever acts now."""
        mode = self._begin(event)
        note(mode=mode)
        if mode == AUTONOMOUS:
            return effect(self._autonomous(event))
        acted = effect(self._fallback(event))
        if mode == SHADOW:
            self._aside("the shadow", self._watch, partial(self._shadow.submit, self._compare, event, acted.result))
        return acted

    def model(self, name: str, breaker: Breaker, failures: tuple[type[Exception], ...] = ()) -> Dependency:
        """The model as a dependency of the consumer: needed only where it acts; its open breaker leads down."""
        kinds = failures or (ConnectionError, TimeoutError)
        made = Dependency(name, needed_by=self._needs_a_model, breaker=breaker, failures=kinds)
        self._models.append(made)
        return made

    def settled(self, event: Event, *, parked: bool) -> None:
        """The parked share is an explicit signal: it is counted here, whatever the handler thinks of itself.

        It counts what the model was asked about, also where it has gone down meanwhile.
        """
        with self._lock:
            scopes = self._acted.pop((event.event_id, event.token), None)
            if self._parked_share is None or scopes is None:
                return
            too_many = self._window.add(scopes, parked=parked)
        if too_many is not None:
            scope, why = too_many
            self._go_down(self._parked_share.to, why, scope)

    def rest(self, within: float = 30.0) -> None:
        """Wait until everything in the shadow has decided."""
        wait(list(self._in_the_shadow), within)

    def _needs_a_model(self, event: Event) -> bool:
        return self._mode_of(self._scopes(event)) == AUTONOMOUS

    def _begin(self, event: Event) -> str:
        """The mode in which the event is handled now."""
        scopes = tuple(self._scopes(event))
        mode = self._mode_of(scopes)
        with self._lock:
            self._acted.pop((event.event_id, event.token), None)
            if mode == AUTONOMOUS:
                self._acted[event.event_id, event.token] = scopes
            if len(self._acted) > MOST_AT_WORK:  # their partitions were taken away before they were settled
                del self._acted[next(iter(self._acted))]
        return mode

    def _mode_of(self, scopes: Iterable[str]) -> str:
        mode = self.modes.of(scopes)
        broken = next((model.name for model in self._models if model.is_open), None)
        if mode == AUTONOMOUS and broken is not None:
            self._go_down(FALLBACK, f"the breaker of {broken} is open")
            return FALLBACK
        return mode

    def _go_down(self, mode: str, why: str, scope: str = FLOW) -> None:
        went = self.modes.down(mode, why=why, scope=scope)
        with self._lock:
            self._window.forget(scope)
        if went:
            whose = f" for {scope}" if scope else ""
            log.warning("the ladder goes down to %s%s: %s; a person has to bring it up again", mode, whose, why)

    def _expect(self, *handlers: AnyHandler) -> None:
        if any(map(is_async, handlers)):
            raise TypeError("Ladder: expected plain functions, arrived an async one; AsyncLadder takes both")

    def _watch(self, submit: Callable[[], Future[None]]) -> None:
        """Let the shadow decide, beside the line. Where it cannot keep up, it misses events; the line does not wait."""
        if len(self._in_the_shadow) >= MOST_IN_THE_SHADOW:
            self.unjudged += 1
            return
        future = submit()
        self._in_the_shadow.add(future)
        future.add_done_callback(self._in_the_shadow.discard)

    def _compare(self, event: Event, acted: Mapping[str, Any] | None) -> None:
        try:
            shadow: object = effect(self._autonomous(event))
        except BaseException as error:  # noqa: BLE001 -- whatever a handler raises in the shadow harms nobody
            shadow = error
        self._judge(event, acted, shadow)

    def _judge(self, event: Event, acted: Mapping[str, Any] | None, shadow: object) -> None:
        """Report what the shadow returned, or raised, where it is something else than what was done."""
        undecided = isinstance(shadow, RateLimited | Unavailable)
        if undecided or not self._aside("a report of disagreement", self._report, event, acted, shadow):
            self.unjudged += 1

    def _report(self, event: Event, acted: Mapping[str, Any] | None, shadow: object) -> None:
        decided = _decided(shadow)
        if decided != acted:
            self.disagreements.report(event, acted, decided)


class AsyncLadder(Ladder):
    """The same for a consumer on an event loop: either handler may be `async def`; a plain one runs on a thread."""

    async def __call__(self, event: Event) -> Effect:  # type: ignore[override]
        """The decision of whoever acts now."""
        mode = await asyncio.to_thread(self._begin, event)
        note(mode=mode)
        if mode == AUTONOMOUS:
            return effect(await _asked(self._autonomous, event))
        acted = effect(await _asked(self._fallback, event))
        if mode == SHADOW:
            self._aside(
                "the shadow", self._watch, partial(self._begin_beside, event, acted.result, asyncio.get_running_loop())
            )
        return acted

    def _expect(self, *handlers: AnyHandler) -> None:
        """Both kinds are welcome."""

    def _begin_beside(
        self, event: Event, acted: Mapping[str, Any] | None, loop: asyncio.AbstractEventLoop
    ) -> Future[None]:
        """In a context of its own: what the shadow notes is no evidence of what was done."""
        beside = self._compare_beside(event, acted)
        return Context().run(asyncio.run_coroutine_threadsafe, beside, loop)

    async def _compare_beside(self, event: Event, acted: Mapping[str, Any] | None) -> None:
        try:
            shadow: object = effect(await _asked(self._autonomous, event))
        except BaseException as error:  # noqa: BLE001 -- whatever a handler raises in the shadow harms nobody
            shadow = error
        await asyncio.to_thread(self._judge, event, acted, shadow)


async def _asked(handler: Callable[[Event], Any], event: Event) -> Any:
    """What the handler returns, without holding up the event loop."""
    if is_async(handler):
        return await handler(event)
    return await asyncio.to_thread(handler, event)


def _decided(shadow: object) -> Mapping[str, Any] | None:
    """What a handler in the shadow returned, or raised, as a result to compare."""
    if isinstance(shadow, Poison):
        return {"parked": str(shadow)}
    if isinstance(shadow, BaseException):
        return {"failed": f"{type(shadow).__name__}: {shadow}"}
    return cast("Effect", shadow).result
