"""One record from the log to the point where its offset may move: decide, commit, publish."""

from collections.abc import Callable

from parking.consumer.gate import Gate, now_ms
from parking.consumer.insist import Insist
from parking.consumer.outbox import Outbox
from parking.consumer.step import Done, Step, Work
from parking.consumer.tries import Handler, Retries, decide
from parking.record import Record


class Process:
    """Carries records of one flow through the gate, one call per record."""

    def __init__(
        self, gate: Gate, outbox: Outbox, handler: Handler, retries: Retries, now_ms: Callable[[], int] = now_ms
    ) -> None:
        self._gate = gate
        self._outbox = outbox
        self._handler = handler
        self._retries = retries
        self._now_ms = now_ms

    def __call__(self, record: Record, wait: Callable[[float], None]) -> None:
        """Return once the offset of `record` may move. `wait` sleeps, or raises Interrupted to leave it unfinished."""
        insist = Insist(wait)
        step: Step = insist(lambda: self._gate.begin(record))
        while isinstance(step, Work):
            step = decide(step, self._handler, retries=self._retries, wait=wait, now_ms=self._now_ms, insist=insist)
        insist(lambda: self._publish(step))

    def _publish(self, done: Done) -> None:
        if done.hold_key is not None:
            self._outbox.publish(done.hold_key)
        if done.hold_key is not None and done.refusal is not None:
            self._outbox.refuse(done.hold_key, done.refusal)
