"""Events that may have ended their process: after an unclean end the first unfinished ones are recorded before a try.

Normally this costs nothing. Who is given a partition writes so into the ledger, and takes it back when it gives the
partition back. Whoever then finds somebody else's row follows a process that ended in the middle of its work.
"""

import threading
import uuid
from collections.abc import Iterable

from parking.consumer.errors import Unavailable
from parking.consumer.event import Event
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.transaction import digest
from parking.consumer.schedule import Place

_PLACE = "flow = :flow AND topic = :topic AND partition = :partition"
OWNER = f"SELECT owner FROM siding_owner WHERE {_PLACE}"  # noqa: S608 -- a text of ours
OWN = (
    "INSERT INTO siding_owner (flow, topic, partition, owner, at) "
    "VALUES (:flow, :topic, :partition, :owner, siding_now_ms()) "
    "ON CONFLICT (flow, topic, partition) DO UPDATE SET owner = excluded.owner, at = excluded.at"
)
GIVE_BACK = f"DELETE FROM siding_owner WHERE {_PLACE} AND owner = :owner"  # noqa: S608 -- a text of ours
LEAVE = f"UPDATE siding_owner SET owner = '' WHERE {_PLACE} AND owner = :owner"  # noqa: S608 -- a text of ours
_TRY = "flow = :flow AND id_digest = :id_digest AND token = :token"
BEGUN = f"SELECT begun FROM siding_begun WHERE {_TRY}"  # noqa: S608 -- a text of ours
BEGIN = (
    "INSERT INTO siding_begun (flow, id_digest, token, begun, at) "
    "VALUES (:flow, :id_digest, :token, 1, siding_now_ms()) "
    "ON CONFLICT (flow, id_digest, token) DO UPDATE SET begun = siding_begun.begun + 1, at = excluded.at"
)
REST = f"UPDATE siding_begun SET begun = begun - 1 WHERE {_TRY} AND begun > 0"  # noqa: S608 -- a text of ours
END = f"DELETE FROM siding_begun WHERE {_TRY}"  # noqa: S608 -- a text of ours


def most(attempts: int) -> int:
    """So many tries that ended their process exhaust the attempts: once beside others, and once alone at least."""
    return max(attempts, 2)


class Suspects:
    """What this process knows of unclean ends. Safe for threads. Everything raises Unavailable.

    `window`: so many of the first records of a partition that come to a handler may have been at work then.
    """

    def __init__(self, flow: str, ledger: Ledger, attempts: int, window: int) -> None:
        self._flow = flow
        self._ledger = ledger
        self._most = most(attempts)
        self._window = window
        self._me = str(uuid.uuid4())
        self._left: dict[Place, int | None] = {}  # of each partition that is ours; None: not looked at yet
        self._lock = threading.Lock()
        self._alone: Event | None = None
        self._begun: dict[int, tuple[Event, Place]] = {}  # tries of ours that are recorded, by the event's identity

    def none_in(self, place: Place) -> bool:
        """Whether nothing that comes of the partition is suspect, as far as this is known. Never waits."""
        return self._left.get(place) == 0

    def assigned(self, places: Iterable[Place]) -> None:
        """The partitions are ours from now on. Whether somebody's row is there is looked at when it matters."""
        with self._lock:
            self._left |= dict.fromkeys(places)

    def take(self, place: Place) -> bool:
        """Whether the record of the partition that comes to a handler now may have been at work when whoever had it
        before us ended in the middle of its work. The first time, writes into the ledger that the partition is ours.

        A record that comes so late that its partition is not ours any more is nobody's suspect, and takes nothing back.
        """
        with self._lock:
            if place not in self._left:
                return False
            left = self._left[place]
            if left is None:
                left = self._window if self._own(place) else 0
            self._left[place] = max(left - 1, 0)
            return left > 0

    def give_back(self, places: Iterable[Place], *, clean: bool = True, orderly: bool = True) -> None:
        """The partitions are not ours any more; `clean`: nothing of them is still at work; `orderly`: what is, was only
        left behind, and ends no process.

        Where not all that is suspect has come to a handler yet, whoever comes next, we too, goes on suspecting.
        """
        with self._lock:
            left = {place: self._left.pop(place, None) for place in places}
            behind = [event for event, place in self._begun.values() if orderly and place in left]
        try:
            for event in behind:
                self.rest(event)
            for place, suspect in left.items():
                if suspect or clean:
                    with self._ledger.transaction(self._flow) as transaction:
                        transaction.execute(LEAVE if suspect else GIVE_BACK, self._place(place))
        except Unavailable:
            return  # then the next owner takes more care than it needs

    def begin(self, event: Event, place: Place) -> int | None:
        """Record a try of what came in that partition before it begins; how many were begun before and never ended.

        None: not yet. One that may have ended two processes is tried while no other such event is, so that it is known
        which one it was. One whose attempts are exhausted is not recorded, nor to be tried; one of a partition that is
        not ours any more is not recorded.
        """
        with self._lock:
            with self._ledger.transaction(self._flow) as transaction:
                rows, _ = transaction.execute(BEGUN, self._try(event))
                before = int(rows[0][0]) if rows else 0
                if 0 < before < self._most:
                    if self._alone is not None and self._alone is not event:
                        return None
                    self._alone = event
                recorded = before < self._most and place in self._left
                if recorded:
                    transaction.execute(BEGIN, self._try(event))
            if recorded:
                self._begun[id(event)] = event, place
        return before

    def rest(self, event: Event) -> None:
        """A try that was recorded is over, waits or is left behind: it ends no process now, and holds up no other."""
        with self._lock:
            if id(event) in self._begun:
                with self._ledger.transaction(self._flow) as transaction:
                    transaction.execute(REST, self._try(event))
                del self._begun[id(event)]
        self.leave(event)

    def end(self, event: Event) -> None:
        """The event is decided: its tries need not be remembered."""
        with self._ledger.transaction(self._flow) as transaction:
            transaction.execute(END, self._try(event))
        with self._lock:
            self._begun.pop(id(event), None)

    def leave(self, event: Event) -> None:
        """The event is not being tried any more, whatever became of it."""
        with self._lock:
            if self._alone is event:
                self._alone = None

    def _own(self, place: Place) -> bool:
        with self._ledger.transaction(self._flow) as transaction:
            rows, _ = transaction.execute(OWNER, self._place(place))
            transaction.execute(OWN, self._place(place))
        return bool(rows) and rows[0][0] != self._me

    def _place(self, place: Place) -> dict[str, object]:
        return {"flow": self._flow, "topic": place[0], "partition": place[1], "owner": self._me}

    def _try(self, event: Event) -> dict[str, object]:
        return {"flow": self._flow, "id_digest": digest(event.event_id), "token": event.token}
