"""Publishing what the ledger has decided: committed first, announced second."""

from collections.abc import Iterator
from typing import Protocol

from parking.consumer.errors import Refused, Unavailable
from parking.consumer.ledger.ledger import Ledger
from parking.consumer.ledger.rows import Due
from parking.wire import Wire

BATCH = 100
NEWEST = "SELECT max(sequence) FROM siding_announcement WHERE flow = :flow"


class Publisher(Protocol):
    """Brings records to the parking topic."""

    def publish(self, hold_key: bytes, wire: Wire) -> None:
        """Return once the record is acknowledged in the partition of its hold key.

        Raises Unavailable, and Refused where it is this record that cannot be published.
        """


class Outbox:
    """What has to be published of one flow, in order per key, until it is acknowledged."""

    def __init__(self, flow: str, ledger: Ledger, publisher: Publisher) -> None:
        self._flow = flow
        self._ledger = ledger
        self._publisher = publisher
        self._stopped: set[bytes] = set()

    @property
    def stopped(self) -> int:
        """Of how many keys a row could not be published when it was tried last."""
        return len(self._stopped)

    def publish(self, hold_key: bytes | None = None, *, upto: int | None = None) -> int:
        """Publish what is due of the key, or of all keys (up to that sequence number), in order; how many records.

        A row that cannot be published stops only its key. Raises Unavailable; Refused, naming the first such row, once
        all others are published.
        """
        stays: dict[bytes, str] = {}
        count = 0
        for record in self._due(hold_key, upto):
            if record.hold_key not in stays:
                try:
                    self._publish(record)
                    count += 1
                except Exception as error:
                    if isinstance(error, Unavailable) and not isinstance(error, Refused):
                        raise
                    stays[record.hold_key] = (
                        f"row {record.sequence} of siding_announcement cannot be published: {error!r}"
                    )
        self._stopped = set(stays) if hold_key is None else (self._stopped - {hold_key}) | set(stays)
        if stays:
            raise Refused(f"outbox: {next(iter(stays.values()))}")
        return count

    def _publish(self, record: Due) -> None:
        self._publisher.publish(record.hold_key, record.wire)
        with self._ledger.transaction(self._flow, write=False) as transaction:
            transaction.published(record.sequence)

    def _due(self, hold_key: bytes | None, upto: int | None) -> Iterator[Due]:
        after = 0
        while True:
            with self._ledger.transaction(self._flow, write=False) as transaction:
                due = transaction.due(hold_key, after=after, most=BATCH)
            for record in due:
                if upto is not None and record.sequence > upto:
                    return
                yield record
                after = record.sequence
            if len(due) < BATCH:
                return

    def newest(self) -> int:
        """The highest sequence number of what is due; 0 if nothing is. Raises Unavailable."""
        with self._ledger.transaction(self._flow, write=False) as transaction:
            rows, _ = transaction.execute(NEWEST, {"flow": self._flow})
        return int(rows[0][0] or 0)

    def oldest(self) -> float:
        """For how many seconds the oldest of what is due has waited; 0 if nothing is. Raises Unavailable."""
        with self._ledger.transaction(self._flow, write=False) as transaction:
            since = transaction.oldest_due()
            return 0.0 if since is None else max((transaction.now_ms() - since) / 1000, 0.0)

    def refuse(self, hold_key: bytes, wire: Wire) -> None:
        """Publish an answer that decides nothing and therefore is in no ledger. Raises Unavailable."""
        self._publisher.publish(hold_key, wire)
