"""One record from the log to the point where its offset may move: decide, commit, publish."""

import random
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any

from parking.consumer.ask import Ask, Call, Course, Wait, advance
from parking.consumer.dependency import Dependencies, Dependency
from parking.consumer.event import Event
from parking.consumer.gate import Gate, now_ms
from parking.consumer.insist import Insist
from parking.consumer.outbox import Outbox
from parking.consumer.schedule import Place
from parking.consumer.step import Done, Later, Step, Work
from parking.consumer.suspects import Suspects
from parking.consumer.trial import Suspicious, Trial
from parking.consumer.tries import AnyHandler, Retries, Trying
from parking.consumer.watch import Watcher, Watchers
from parking.record import Record


class Process:
    """Carries records of one flow through the gate. Safe for threads."""

    def __init__(
        self,
        gate: Gate,
        outbox: Outbox,
        handler: AnyHandler,
        retries: Retries,
        now_ms: Callable[[], int] = now_ms,
        *,
        dependencies: Sequence[Dependency] = (),
        suspects: Suspects | None = None,
        watchers: Sequence[Watcher] = (),
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._gate = gate
        self._suspects = suspects
        self._watchers = Watchers(watchers)
        self._outbox = outbox
        self._insist = Insist()
        self._trying = Trying(
            handler,
            retries=retries,
            dependencies=Dependencies("the flow itself", dependencies),
            insist=self._insist,
            now_ms=now_ms,
            chance=chance,
            limited=self._watchers.limited,
        )

    def course(self, record: Record) -> Course:
        """The way of one record: when it ends, the ledger has decided and what is due of it is published."""
        event: Event | None = None
        suspect: bool | None = None
        place = (record.topic, record.partition)
        step: Step = yield from self._insist.ask(Call(partial(self._gate.begin, record)))
        while not isinstance(step, Done):
            event = step.event if isinstance(step, Work) else event
            if isinstance(step, Later):
                yield Wait(step.seconds)
                step = yield from self._insist.ask(Call(step.again))
                continue
            suspect = (yield from self._is_suspect(place)) if suspect is None else suspect
            step = yield from self._decide_carefully(step, place) if suspect else self._trying.decide(step, Trial())
        if step.hold_key is not None:
            yield from self._insist.ask(Call(partial(self._publish, step)))
        if self._watchers:
            yield Call(partial(self._watchers.decided, record, event, step))

    def _is_suspect(self, place: Place) -> Generator[Ask, Any, bool]:
        """Whether a record of the partition that comes to a handler may have been at work when a process ended."""
        if self._suspects is None or self._suspects.none_in(place):
            return False
        return bool((yield from self._insist.ask(Call(partial(self._suspects.take, place)))))

    def _decide_carefully(self, work: Work, place: Place) -> Generator[Ask, Any, Step]:
        """Like `decide`, but each try is recorded first: one that ends the process is an attempt, too."""
        assert self._suspects is not None
        trial = Suspicious(self._suspects, work.event, place, self._insist)
        try:
            step: Step = yield from self._trying.decide(work, trial)
            yield from trial.end()
            return step
        finally:
            trial.leave()

    def __call__(self, record: Record, wait: Callable[[float], None]) -> None:
        """Carry one record all the way in this thread. `wait` sleeps, or raises to leave it unfinished."""
        course = self.course(record)
        while (pause := advance(course)) is not None:
            wait(pause.seconds)

    def _publish(self, done: Done) -> None:
        if done.hold_key is not None:
            self._outbox.publish(done.hold_key)
        if done.hold_key is not None and done.refusal is not None:
            self._outbox.refuse(done.hold_key, done.refusal)
