"""The hold keys of quarantines: a quarantine keeps its key for ever, and most events come to those that had one."""

from collections.abc import Collection, Mapping

from parking.ask import ask

MOST, LONGEST = 50_000, 256
"""Keys that are remembered, and how long they may be."""

SQL_KEYS = """
SELECT q.id, k.key FROM parking_quarantine q JOIN parking_holdkey k ON k.id = q.hold_key_id WHERE q.id = ANY(%s::int8[])
"""


class HoldKeys:
    """What one index process has seen of them."""

    def __init__(self) -> None:
        self._known: dict[int | None, bytes] = {}

    def of(self, quarantines: Collection[int | None]) -> Mapping[int | None, bytes]:
        """The key of each of these quarantines; None, which is no quarantine, has none."""
        missing = [number for number in quarantines if number is not None and number not in self._known]
        if not missing:
            return self._known
        found = dict(ask(SQL_KEYS, missing))
        if any(len(key) > LONGEST for key in found.values()):  # these are for once
            return {**self._known, **found}
        if len(self._known) + len(found) > MOST:
            self._known = {number: self._known[number] for number in quarantines if number in self._known}
        self._known.update(found)
        return self._known
