"""One record from the log to the point where its offset may move: decide, commit, publish."""

import random
from collections.abc import Callable, Sequence
from functools import partial

from parking.consumer.ask import Call, Course, Wait, advance
from parking.consumer.dependency import Dependencies, Dependency
from parking.consumer.gate import Gate, now_ms
from parking.consumer.insist import Insist
from parking.consumer.outbox import Outbox
from parking.consumer.step import Done, Later, Step
from parking.consumer.tries import AnyHandler, Retries, Trying
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
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._gate = gate
        self._outbox = outbox
        self._insist = Insist()
        self._trying = Trying(
            handler,
            retries=retries,
            dependencies=Dependencies("the flow itself", dependencies),
            insist=self._insist,
            now_ms=now_ms,
            chance=chance,
        )

    def course(self, record: Record) -> Course:
        """The way of one record: when it ends, the ledger has decided and what is due of it is published."""
        step: Step = yield from self._insist.ask(Call(partial(self._gate.begin, record)))
        while not isinstance(step, Done):
            if isinstance(step, Later):
                yield Wait(step.seconds)
                step = yield from self._insist.ask(Call(step.again))
            else:
                step = yield from self._trying.decide(step)
        if step.hold_key is not None:
            yield from self._insist.ask(Call(partial(self._publish, step)))

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
