"""What has to happen without anybody asking: deadlines, and replays that nobody drives.

Any number of watches may run; the one that holds the advisory lock works, the others wait to take over. The lock
belongs to a database session: it falls with the connection of a watch that is cut off or killed.
"""

import logging
import time
from collections.abc import Callable, Sequence

from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection

from parking.beat import beat, forget_gone
from parking.fetch_late import Walk
from parking.retention.purge import purge_due
from parking.trouble import of_database
from replay import expire, recover, tasks

log = logging.getLogger(__name__)

ASK_EVERY = 10.0
LOCK = 0x51D1_3A7C
Step = Callable[[], int]
STEPS: tuple[Step, ...] = (expire.expire_due, recover.recover, recover.settle_late, purge_due)


class Watch:
    """One watch. `once` is one round; it never raises for a database, Redis or Kafka that is away.

    `first` are steps of the layer above, done before ours: people are told before anything is put right.
    """

    def __init__(self, first: Sequence[Step] = ()) -> None:
        self._steps = (*first, *STEPS, Walk().fetch_late)
        self._works = False
        self._away = ""
        self._asked = -ASK_EVERY

    def once(self) -> bool:
        """One round; whether this watch is the one that works."""
        try:
            self._works = self._is_the_one()
            beat("watch", "works" if self._works else "waits to take over")
            if self._works:
                self._round()
                self._ask_workers()
        except Error as error:
            self._lost(error)
            return False
        self._back()
        return self._works

    def _is_the_one(self) -> bool:
        """Whether this session holds the lock. A new session has to take it anew, an old one keeps it."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted"
                " AND classid = 0 AND objid = %s AND pid = pg_backend_pid()"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
                " OR pg_try_advisory_lock(%s)",
                [LOCK, LOCK],
            )
            return bool(cursor.fetchone()[0])

    def _round(self) -> None:
        for step in self._steps:
            try:
                moved = step()
            except (OperationalError, InterfaceError):
                raise  # the database is away, for every step
            except Exception:
                log.exception("watch: %s failed; the other steps go on, and it is tried again", step.__name__)
            else:
                if moved:
                    log.info("watch: %s: %s", step.__name__, moved)

    def _ask_workers(self) -> None:
        """Now and then have a worker show that it lives, and forget the processes that are long gone."""
        if time.monotonic() - self._asked >= ASK_EVERY:
            self._asked = time.monotonic()
            tasks.ask_for_sign_of_life(seconds=int(ASK_EVERY))
            forget_gone()

    def _lost(self, error: Error) -> None:
        self._works = False
        line = of_database(error, "watch")
        if line != self._away:
            log.warning("watch: the database cannot be used, trying again: %s", line)
        self._away = line
        connection.close()

    def _back(self) -> None:
        if self._away:
            log.warning("watch: the database is back")
            self._away = ""
            close_old_connections()

    def close(self) -> None:
        """Let the lock go, so that another watch takes over at once."""
        connection.close()
