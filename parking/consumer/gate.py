"""The gate: what a record may do, decided in the ledger (DESIGN section 4).

`begin` says what a record needs. `Done` means that the ledger has decided; `Work` that a handler has to, whose result
comes back through the same gate. Nothing here publishes or moves an offset: that comes after, in `process`.
"""

import time
from collections.abc import Callable

from parking.consumer.flow import Flow
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.replay_gate import ReplayGate
from parking.consumer.source_gate import SourceGate
from parking.consumer.step import Step
from parking.consumer.together import Commit
from parking.record import Record


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Gate:
    """The gate of one flow. Safe for several threads and processes: all that it knows is in the ledger.

    `commit` carries out the transaction of a live success; one each, unless told otherwise.
    """

    def __init__(
        self, flow: Flow, ledger: Ledger, now_ms: Callable[[], int] = now_ms, commit: Commit | None = None
    ) -> None:
        self._replay_topic = flow.replay_topic
        self._source = SourceGate(flow, ledger, now_ms, commit)
        self._replay = ReplayGate(flow, ledger, now_ms)

    def begin(self, record: Record) -> Step:
        """What is to be done with a record of the source or the replay topic. Raises Unavailable."""
        side = self._replay if record.topic == self._replay_topic else self._source
        return side.begin(record)
