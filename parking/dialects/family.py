"""One producer's form of dead letters, and what of it was found in a record. How to add one: `docs/dialects.md`."""

from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from parking.dialects import identity, made_up, origin
from parking.dialects.reading import DEAD_LETTER, UNKNOWN_WHY, Reading, Why
from parking.record import Headers, Record

if TYPE_CHECKING:
    from parking.dialects.layout import Layout

Names = Set[str]


def _by_any_header(_given: Names) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Family:
    """A row of the table in `table.py`.

    `headers` are those that a failure adds: where they stand tells whose failure is the newest. `also` are added too,
    but are shared with other families or with users, so they tell nothing. A name that ends in `*` stands for all that
    begin so. A replay sends neither.

    `signature` asks the names of a record's headers whether it is of this family, once one of `headers` is among them.
    A family without `headers` tells by `asks` instead, which is put to records of no other family.
    """

    framework: str
    read: Callable[["Found"], Reading]
    headers: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    """The header that begins a set, of a family that appends a set with each failure."""
    signature: Callable[[Names], bool] = _by_any_header
    asks: Callable[[Record], bool] | None = None
    oldest: Callable[["Found"], origin.Position | None] | None = None
    """The position of the family's first failure in the record; None where its headers name none."""
    in_front: bool = False
    """It writes in front of what the consumer had been given, all others behind."""

    def adds(self, name: str) -> bool:
        """Whether a header of that name was added when the event failed."""
        return self.tells(name) or _named(name, self._also)

    def tells(self, name: str) -> bool:
        return _named(name, self._headers)

    @cached_property
    def _headers(self) -> "_Patterns":
        return _patterns(self.headers)

    @cached_property
    def _also(self) -> "_Patterns":
        return _patterns(self.also)


class Found:
    """A record, and the family of its newest failure. Which header is meant is looked up by name, never searched for:
    where it stands, the layout has worked out for all records with the same names.
    """

    __slots__ = ("_named", "_places", "_position", "family", "layout", "record")

    def __init__(self, record: Record, family: Family, layout: "Layout") -> None:
        self.record = record
        self.family = family
        self.layout = layout
        self._named: origin.Named | None = None
        self._places: origin.Places = (-1, -1, -1, -1)
        self._position = origin.NOWHERE

    def last(self, name: str) -> bytes | None:
        """The value of the last header of that name; None where there is none or it is null."""
        place = self.layout.lasts.get(name)
        return None if place is None else self.record.headers[place][1]

    def first(self, name: str) -> bytes | None:
        """The value of the first header of that name."""
        place = self.layout.firsts.get(name)
        return None if place is None else self.record.headers[place][1]

    def has(self, name: str) -> bool:
        return name in self.layout.lasts

    def behind(self, place: int, name: str) -> bytes | None:
        """The value of the last header of that name that stands at the place or behind it."""
        at = self.layout.lasts.get(name, -1)
        return self.record.headers[at][1] if at >= place else None

    def own(self, name: str) -> bytes | None:
        """The last one behind the last header of an older family: what a set lacks is never borrowed from that."""
        return self.behind(self.layout.cut, name)

    def newest(self, name: str) -> bytes | None:
        """The first one of the newest set, of a family that appends sets: from the header on that `begins` it, or of
        all that `own` looks at if it is not there. So what this failure has not is never borrowed from an older one.
        """
        place = self.layout.newest_set.get(name)
        return None if place is None else self.record.headers[place][1]

    def position(self, named: origin.Named, places: origin.Places) -> origin.Position:
        """The position at these places; the newest one is mostly the oldest, too, and is read once."""
        if named is not self._named or places != self._places:
            self._named, self._places = named, places
            self._position = named.read(self.record.headers, places)
        return self._position

    def oldest(self) -> origin.Position | None:
        """The position of the oldest failure in the record."""
        if self.layout.front:
            return made_up.position(made_up.said(tuple(reversed(self.record.headers[: self.layout.front]))))
        for family in self.layout.families:
            position = family.oldest(self) if family.oldest else None
            if position is not None:
                return position
        return None

    def reading(
        self,
        source: origin.Position | None = None,
        *,
        why: Why = UNKNOWN_WHY,
        oldest: origin.Position | None = None,
        headers: Headers | None = None,
        kind: str = DEAD_LETTER,
        payload_missing: bool | None = False,
        **said: Any,
    ) -> Reading:
        """The Reading: `source` is where the newest failure was, `said` are the members that this family tells.

        `headers` are the original ones, where they are not the record's own without those of failures.
        """
        source = source or origin.NOWHERE
        oldest = oldest or self.oldest()
        carried = identity.carried(self)
        return Reading(
            self.family.framework,
            kind,
            carried or identity.of(self, oldest, headers),
            source,
            origin.earlier(oldest, source),
            why,
            payload_missing=payload_missing,
            token=identity.token(self) if carried else None,
            original_headers=self.layout.kept(self.record.headers) if headers is None else headers,
            layout=self.layout,
            **said,
        )


def all_of(*names: str) -> Callable[[Names], bool]:
    """A signature: each of these."""
    return lambda given: all(name in given for name in names)


def any_of(*names: str) -> Callable[[Names], bool]:
    """A signature: at least one of these."""
    return lambda given: any(name in given for name in names)


_Patterns = tuple[frozenset[str], tuple[str, ...]]


def _patterns(names: tuple[str, ...]) -> _Patterns:
    exact = frozenset(name for name in names if not name.endswith("*"))
    return exact, tuple(name[:-1] for name in names if name.endswith("*"))


def _named(name: str, patterns: _Patterns) -> bool:
    exact, prefixes = patterns
    return name in exact or name.startswith(prefixes)
