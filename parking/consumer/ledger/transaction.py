"""What can be read and written in one transaction of the ledger."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from parking.consumer.ledger import statements
from parking.consumer.ledger.rows import Due, Fate, Hold, Note
from parking.coordinates import Coordinates
from parking.fields import pack
from parking.wire import Wire


class FateExists(Exception):
    """A live success, which takes no lock, gave the event its fate after this transaction had looked."""


class Execute(Protocol):
    """Runs one statement; gives the rows that it returns and how many it changed."""

    def __call__(self, statement: str, parameters: Mapping[str, Any]) -> tuple[Sequence[Sequence[Any]], int]: ...


class Transaction:
    """One transaction of one flow. `connection` is the driver's own, for the business write."""

    def __init__(self, flow: str, connection: Any, execute: Execute, *, for_update: str) -> None:
        self.connection = connection
        self.execute = execute
        """Runs one statement of the kit's own, written like those in `statements`."""
        self._flow = flow
        self._for_update = for_update

    def lock(self, hold_key: bytes) -> Hold:
        """The row of the key, created if absent, locked until the end of the transaction."""
        key = self._key(hold_key)
        rows, _ = self.execute(statements.SELECT_HOLD + self._for_update, key)
        while not rows:  # purging may take a row away between the two
            self.execute(statements.CREATE_HOLD, {**key, "hold_key": hold_key})
            rows, _ = self.execute(statements.SELECT_HOLD + self._for_update, key)
        return _hold(rows[0])

    def look(self, event_id: str, hold_key: bytes) -> tuple[Fate | None, bool, bool, bool]:
        """The event's fate, whether the key is quarantined, whether its events are to be left unfinished for now, and
        whether an event was renamed because of this id: in one statement and without a lock, a hint."""
        rows, _ = self.execute(statements.LOOK, {**self._key(hold_key), "id_digest": digest(event_id)})
        quarantined, buffers, worn, *fate = rows[0]
        return (_fate(fate) if fate[0] is not None else None), bool(quarantined), bool(buffers), bool(worn)

    def now_ms(self) -> int:
        """The database's time, in milliseconds since 1970."""
        rows, _ = self.execute(statements.SELECT_NOW, {})
        return int(rows[0][0])

    def fate(self, event_id: str) -> Fate | None:
        rows, _ = self.execute(statements.SELECT_FATE, {"flow": self._flow, "id_digest": digest(event_id)})
        return _fate(rows[0]) if rows else None

    def worn(self, event_id: str) -> bool:
        """Whether an event was renamed because another one wears, or wore, this id."""
        rows, _ = self.execute(statements.WORN, {"flow": self._flow, "id_digest": digest(event_id)})
        return bool(rows[0][0])

    def held(self, hold_key: bytes, most: int) -> list[Fate]:
        """The first held events of the key, in order of position."""
        rows, _ = self.execute(statements.SELECT_HELD, {**self._key(hold_key), "most": most})
        return [_fate(row) for row in rows]

    def held_at(self, hold_key: bytes, position: int) -> str | None:
        """The id of the held event of the key at that position, if there is one."""
        rows, _ = self.execute(statements.SELECT_HELD_AT, {**self._key(hold_key), "position": position})
        return bytes(rows[0][0]).decode() if rows else None

    def count_held(self, hold_key: bytes) -> tuple[int, int]:
        """How many events of the key are held, and how many of them are poison."""
        rows, _ = self.execute(statements.COUNT_HELD, self._key(hold_key))
        held, poison = rows[0]
        return int(held), int(poison)

    def save_hold(self, hold: Hold) -> None:
        self.execute(statements.UPDATE_HOLD, {**self._key(hold.hold_key), **_hold_values(hold)})

    def insert_fate(self, fate: Fate) -> None:
        """Insert the fate of an event that has none. Raises FateExists where one was committed meanwhile."""
        _, changed = self.execute(statements.INSERT_FATE, self._fate_values(fate))
        if changed != 1:
            raise FateExists(fate.event_id)

    def insert_fate_if_open(self, fate: Fate) -> bool:
        """Insert the fate if the key is not quarantined, the event has none yet, and none was renamed because of its
        id; without a lock. Whether it did."""
        _, changed = self.execute(statements.INSERT_FATE_IF_OPEN, self._fate_values(fate))
        return changed == 1

    def update_fate(self, fate: Fate) -> None:
        self.execute(statements.UPDATE_FATE, self._fate_values(fate))

    def announce(self, hold_key: bytes, wire: Wire) -> None:
        """Put a record in the outbox of the key."""
        header_fields = (field for name, value in wire.headers for field in (name.encode(), value))
        record = pack([wire.key, wire.value, *header_fields])
        values = {**self._key(hold_key), "hold_key": hold_key, "record": record}
        self.execute(statements.INSERT_ANNOUNCEMENT, values)

    def due(self, hold_key: bytes | None, *, after: int = 0, most: int = 100) -> list[Due]:
        """What has to be published of the key, or of all keys, in order, behind the sequence number `after`."""
        bounds = {"flow": self._flow, "after": after, "most": most}
        if hold_key is None:
            rows, _ = self.execute(statements.SELECT_DUE, bounds)
        else:
            rows, _ = self.execute(statements.SELECT_DUE_OF_KEY, {**bounds, **self._key(hold_key)})
        return [Due(row[0], bytes(row[1]), bytes(row[2])) for row in rows]

    def published(self, sequence: int) -> None:
        """Take an acknowledged record out of the outbox."""
        self.execute(statements.DELETE_ANNOUNCEMENT, {"sequence": sequence})

    def oldest_due(self) -> int | None:
        """Since when the oldest record of the outbox waits (milliseconds since 1970); None where nothing does."""
        rows, _ = self.execute(statements.OLDEST_DUE, {"flow": self._flow})
        return None if rows[0][0] is None else int(rows[0][0])

    def note(self) -> Note:
        """What the purge has noted, locked until the end of the transaction."""
        flow = {"flow": self._flow}
        self.execute(statements.CREATE_NOTE, flow)
        rows, _ = self.execute(statements.SELECT_NOTE + self._for_update, flow)
        edge, at, ends = rows[0]
        return Note(edge, at, json.loads(bytes(ends)) if ends is not None else {})

    def save_note(self, note: Note) -> None:
        ends = json.dumps(dict(note.ends)).encode()
        self.execute(statements.UPDATE_NOTE, {"flow": self._flow, "edge": note.edge, "noted": note.at, "ends": ends})

    def purge_fates(self, *, before: int, after: bytes, most: int) -> tuple[int, bytes | None]:
        """Forget settled events that were decided before that time, among the next `most` fates behind the digest
        `after`; how many, and the digest to go on behind (None: that was all)."""
        window = {"flow": self._flow, "after": after}
        rows, _ = self.execute(statements.PURGE_WINDOW, {**window, "most": most})
        if rows[0][0] is None:
            return 0, None
        last = bytes(rows[0][0])
        _, gone = self.execute(statements.PURGE_FATES, {**window, "last": last, "before": before})
        return gone, last

    def purge_holds(self, *, before: int, after: bytes, most: int) -> bytes | None:
        """Forget the keys that are not quarantined and whose tokens and positions are older than that time, among the
        next `most` keys behind the digest `after`; the digest to go on behind (None: that was all).

        Of these keys it remembers where they ended: a marker that asks for one of them later is to be told that it is
        released, and not that nothing is known of it.
        """
        window = {"flow": self._flow, "after": after}
        rows, _ = self.execute(statements.PURGE_HOLDS_WINDOW, {**window, "most": most})
        if rows[0][0] is None:
            return None
        last = bytes(rows[0][0])
        gone, _ = self.execute(statements.PURGE_HOLDS, {**window, "last": last, "before": before})
        if gone:
            position = max(int(row[0]) for row in gone)
            self.execute(statements.PURGED_HOLDS, {"flow": self._flow, "position": position})
        return last

    def purge_notes(self, *, before: int) -> None:
        """Forget what else was before that time: tries begun, disagreements, modes but the newest of each scope."""
        for statement in (statements.PURGE_BEGUN, statements.PURGE_DISAGREEMENTS, statements.PURGE_MODES):
            self.execute(statement, {"flow": self._flow, "before": before})

    def version(self) -> int:
        rows, _ = self.execute(statements.SELECT_VERSION, {})
        return int(rows[0][0] or 0)

    def _key(self, hold_key: bytes) -> dict[str, Any]:
        return {"flow": self._flow, "key_digest": hashlib.sha256(hold_key).digest()}

    def _fate_values(self, fate: Fate) -> dict[str, Any]:
        values = {name: getattr(fate, name) for name in statements.FATE_COLUMNS.split(", ") if hasattr(fate, name)}
        return values | {
            **self._key(fate.hold_key),
            "id_digest": digest(fate.event_id),
            "event_id": fate.event_id.encode(),
            "source_topic": fate.source.topic,
            "source_partition": fate.source.partition,
            "source_offset": fate.source.offset,
            "source_timestamp": fate.source.timestamp_ms,
        }


def digest(event_id: str) -> bytes:
    """Under what a fate is found: SHA-256 of the id, which may be long."""
    return hashlib.sha256(event_id.encode()).digest()


def _hold_values(hold: Hold) -> dict[str, Any]:
    return {
        "quarantined": hold.quarantined,
        "blocked_by": None if hold.blocked_by is None else hold.blocked_by.encode(),
        "floor": hold.floor,
        "released": hold.released,
        "released_position": hold.released_position,
        "next_position": hold.next_position,
        "buffer_until": hold.buffer_until,
    }


def _hold(row: Sequence[Any]) -> Hold:
    key, quarantined, blocked_by, *numbers = row
    return Hold(bytes(key), bool(quarantined), None if blocked_by is None else bytes(blocked_by).decode(), *numbers)


def _fate(row: Sequence[Any]) -> Fate:
    values: dict[str, Any] = dict(zip(statements.FATE_COLUMNS.split(", "), row, strict=True))
    source = Coordinates(*(values.pop(f"source_{name}") for name in ("topic", "partition", "offset", "timestamp")))
    plain: dict[str, Any] = {
        name: bytes(value) if isinstance(value, memoryview) else value for name, value in values.items()
    }
    plain["event_id"] = plain["event_id"].decode()
    return Fate(**plain, source=source)
