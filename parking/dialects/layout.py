"""What the names of a record's headers say: which families failed it, in which order, and what each has added.

Nothing here looks at a value, so it is worked out once for all records whose headers have the same names.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from parking import headers as packed
from parking.dialects import identity, tokens
from parking.dialects.family import Family
from parking.dialects.table import FAMILIES
from parking.record import Headers
from parking.wire import names as siding

T = TypeVar("T")

_REMEMBERED = 64, 4096, 512
"""Names of at most so many headers with so many characters, of so many layouts: what is remembered stays small,
whatever arrives."""
_LOOKED_AT = 64
"""Headers beside the families' that may have made-up names."""


@dataclass(frozen=True, eq=False)
class Layout:
    """`families`: whose failures are in the record, the oldest first; `newest`: the last of them; None for none.

    `cut`, `end`: the places behind the last header of an older family, and of the newest; `original`: the places of the
    headers that a replay sends, None for all.
    """

    names: Sequence[str]
    newest: Family | None
    families: tuple[Family, ...]
    cut: int
    end: int
    original: tuple[int, ...] | None
    before: int = 0
    """The place where what belongs to the newest set may begin: behind the header that began the one before it."""
    begin: int | None = None
    """The place of the header that begins the newest set; None where it is not there."""
    front: int = 0
    """The place of the first family's first header, where headers under made-up names before it tell of a failure."""
    behind: bool = False
    """Headers under made-up names behind `end` tell of a failure."""
    _known: dict[Callable[["Layout"], Any], Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def firsts(self) -> Mapping[str, int]:
        """The place of the first header of each name."""
        return {self.names[place]: place for place in reversed(range(len(self.names)))}

    @cached_property
    def lasts(self) -> Mapping[str, int]:
        """The place of the last header of each name."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def newest_set(self) -> Mapping[str, int]:
        """The place of the first header of each name in the newest set, or behind `cut` where nothing begins it."""
        begin = self.cut if self.begin is None else self.begin
        return {self.names[place]: place for place in reversed(range(begin, len(self.names)))}

    @cached_property
    def block(self) -> int | None:
        """Where the block of our own records begins; None for the records of others."""
        return self.lasts.get(siding.VERSION)

    @cached_property
    def written(self) -> list[bytes]:
        """The names as `parking.headers.pack` writes them."""
        return packed.written(self.names)

    @cached_property
    def _in_front(self) -> int | None:
        """How many the original headers are, where all others stand behind them."""
        original = range(len(self.names)) if self.original is None else self.original
        return len(original) if all(place == number for number, place in enumerate(original)) else None

    def kept(self, headers: Headers) -> Headers:
        """The headers that the newest failure's consumer had been given, without those of any failure."""
        if self.original is None:
            return headers
        count = self._in_front
        return tuple([headers[place] for place in self.original]) if count is None else headers[:count]

    def once(self, work: Callable[["Layout"], T]) -> T:
        """What `work` makes of these names: done once for all records that have them."""
        found: T
        try:
            found = self._known[work]
        except KeyError:
            found = self._known[work] = work(self)
        return found


def of(headers: Headers, own_topic: bool) -> Layout:
    """The layout of these headers; `own_topic`: the topic's name is one of a family that writes in front."""
    names = tuple([name for name, _ in headers])
    found = _remembered[own_topic].get(names)
    return found or _remember(names, own_topic)


def _remember(names: tuple[str, ...], own_topic: bool) -> Layout:
    layout, remembered = _of(names, own_topic), _remembered[own_topic]
    most, longest, layouts = _REMEMBERED
    if len(names) <= most and sum(map(len, names)) <= longest:
        if len(remembered) >= layouts // 2:
            remembered.clear()
        remembered[names] = layout
    return layout


_remembered: tuple[dict[tuple[str, ...], Layout], dict[tuple[str, ...], Layout]] = ({}, {})


def _of(names: Sequence[str], own_topic: bool) -> Layout:
    first, last = _places(names)
    given = frozenset(names) if last else frozenset()
    found = [family for family in last if family.signature(given)]
    newest = _newest(found, first, last, own_topic)
    older = [family for family in found if family is not newest]
    cut = 0 if newest is None or newest.in_front else _behind(older, last, last[newest])
    families, original = _by_age(older, newest, first), _original(names, found)
    if newest is None or newest.in_front:
        return Layout(names, newest, families, cut, 0 if newest is None else last[newest] + 1, original)
    front, end = min(first[family] for family in found), last[newest] + 1
    in_front, behind = (tokens.whole(part[:_LOOKED_AT]) for part in (names[:front], names[end:]))
    sets = _newest_set(names, cut, newest.begins)
    return Layout(names, newest, families, cut, end, original, *sets, front if in_front else 0, behind)


def _places(names: Sequence[str]) -> tuple[dict[Family, int], dict[Family, int]]:
    """The places of the first and of the last header of each family that shows itself."""
    first: dict[Family, int] = {}
    last: dict[Family, int] = {}
    for place, name in enumerate(names):
        for family in _told_by(name):
            first.setdefault(family, place)
            last[family] = place
    return first, last


def _newest(
    found: Sequence[Family], first: dict[Family, int], last: dict[Family, int], own_topic: bool
) -> Family | None:
    """The family whose own headers stand last; of equals the first of the table.

    Families that write in front: among themselves the first counts, before others only if the topic says so.
    """
    in_front = [family for family in found if family.in_front]
    if in_front and (own_topic or len(in_front) == len(found)):
        return min(in_front, key=first.__getitem__)
    behind = [family for family in found if not family.in_front]
    return max(behind, key=last.__getitem__, default=None)


def _behind(older: Sequence[Family], last: dict[Family, int], end: int) -> int:
    """The place behind the last header of an older family before the newest's own last one.

    A family that writes in front may stand behind it in a record that went through a topic of another name, and two
    families may end at one header that both add.
    """
    return 1 + max((last[family] for family in older if last[family] < end), default=-1)


def _newest_set(names: Sequence[str], cut: int, begins: tuple[str, ...]) -> tuple[int, int | None]:
    places = [place for place in range(cut, len(names)) if names[place] in begins] if begins else []
    return (places[-2] + 1 if len(places) > 1 else cut), (places[-1] if places else None)


def _by_age(older: list[Family], newest: Family | None, first: dict[Family, int]) -> tuple[Family, ...]:
    if newest is None:
        return ()
    if newest.in_front:
        return (*sorted(older, key=lambda family: (family.in_front, first[family])), newest)
    return tuple(sorted((*older, newest), key=first.__getitem__))


def _original(names: Sequence[str], found: Sequence[Family]) -> tuple[int, ...] | None:
    kept = tuple(
        place
        for place, name in enumerate(names)
        if name not in identity.CARRIED and not any(family.adds(name) for family in found)
    )
    return None if len(kept) == len(names) else kept


def _told_by(name: str) -> tuple[Family, ...]:
    """The families that a header of that name is a failure of: of most names, none."""
    if name not in _NAMES and not name.startswith(_PREFIXES):
        return ()
    return _telling(name) if len(name) <= _LONGEST else _telling.__wrapped__(name)


@lru_cache(maxsize=4096)
def _telling(name: str) -> tuple[Family, ...]:
    return tuple(family for family in FAMILIES if family.tells(name))


_LONGEST = 200
"""Characters of a name that is remembered."""
_ALL = [name for family in FAMILIES for name in family.headers]
_NAMES = frozenset(name for name in _ALL if not name.endswith("*"))
_PREFIXES = tuple({name[:-1] for name in _ALL if name.endswith("*")})
