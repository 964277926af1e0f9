"""One producer's form of dead letters, and what of it was found in a record. How to add one: `docs/dialects.md`."""

from collections.abc import Callable, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from parking.dialects import identity, made_up, origin
from parking.dialects.reading import DEAD_LETTER, Reading
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
    oldest: Callable[[Headers], origin.Position | None] | None = None
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


@dataclass(frozen=True, slots=True)
class Found:
    """A record, and the family of its newest failure."""

    record: Record
    family: Family
    layout: "Layout"

    @property
    def own(self) -> Headers:
        """What stands behind the last header of an older family, if any: what a set lacks is never borrowed from it."""
        cut = self.layout.cut
        return self.record.headers[cut:] if cut else self.record.headers

    @property
    def newest(self) -> Headers:
        """The newest set of a family that appends sets, from the header on that `begins` it; `own` if it is not there.

        So what this failure has not is never borrowed from an older one.
        """
        begin = self.layout.begin
        return self.own if begin is None else self.record.headers[begin:]

    def oldest(self) -> origin.Position | None:
        """The position of the oldest failure in the record."""
        if self.layout.front:
            return made_up.position(made_up.said(tuple(reversed(self.record.headers[: self.layout.front]))))
        positions = (family.oldest(self.record.headers) for family in self.layout.families if family.oldest)
        return next((position for position in positions if position is not None), None)

    def reading(
        self,
        source: origin.Position | None = None,
        *,
        oldest: origin.Position | None = None,
        headers: Headers | None = None,
        kind: str = DEAD_LETTER,
        payload_missing: bool | None = False,
        **said: Any,
    ) -> Reading:
        """The Reading: `source` is where the newest failure was, `said` are the members that this family tells.

        `headers` are the original ones, where they are not the record's own without those of failures.
        """
        record = self.record
        wrapped = headers is not None
        headers = self.layout.kept(record.headers) if headers is None else headers
        oldest = oldest or self.oldest()
        named = self.layout.named or wrapped
        return Reading(
            framework=self.family.framework,
            kind=kind,
            event_id=identity.of(record, headers, oldest) if named else identity.by_place(record, oldest),
            payload_missing=payload_missing,
            token=identity.token(record) if named else None,
            original_headers=headers,
            **origin.fields(source, oldest),
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
