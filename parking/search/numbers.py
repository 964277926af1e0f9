"""Words as the numbers by which they are stored: 64 bits, and another number in each flow. Pure.

A word of a payload is another number than the same word where everybody sees it who sees the flow: who may not see
payloads does not ask for it.

Numbers are made and kept as elements of an array in PostgreSQL's binary form (`array_send`: the length, 8, then the
number, big-endian), so that the words of an event are joined, and nothing has to be packed.
"""

import hashlib
from functools import cache
from typing import ClassVar

from parking.search.tokens import of_run

ELEMENT = 12
"""Bytes of one number and its length."""
_LENGTH = (8).to_bytes(4, "big")
_REMEMBERED = 50_000
_SHORT, _SHORT_OPEN = 40, 120
"""Bytes of what is remembered: what is longer in payloads is seldom the same again, as error types are."""


class Numbers(dict[bytes, bytes]):
    """Run (UTF-8) → the elements of all words by which it is found; what is short is remembered, for most come again.

    What came since the last rotation is here, what came before in `_before`; all that remember share one bound, so
    that many flows cost no more memory than one.
    """

    _room = _REMEMBERED
    _all: ClassVar[list["Numbers"]] = []

    def __init__(self, flow: int, *, payload: bool = False) -> None:
        person = b"payload" if payload else b""
        self._salted = hashlib.blake2b(digest_size=8, salt=flow.to_bytes(8, "big"), person=person)
        self._short = _SHORT if payload else _SHORT_OPEN
        self._before: dict[bytes, bytes] = {}
        self._all.append(self)

    def element(self, word: bytes) -> bytes:
        """The element of a word (UTF-8): BLAKE2b-64, salted with the flow's id, and personalised where it is one of a
        payload. It is stored: it must not change.
        """
        hashed = self._salted.copy()
        hashed.update(word)
        return _LENGTH + hashed.digest()

    def number(self, word: str) -> int:
        """The number of a word, signed."""
        return number(self.element(word.encode("utf-8", "surrogatepass")))

    def __missing__(self, run: bytes) -> bytes:
        made = self._before.get(run)
        if made is None:
            made = self._made(run)
        if len(run) <= self._short:
            self[run] = made
            Numbers._room -= 1
            if Numbers._room <= 0:
                _rotate()
        return made

    def _made(self, run: bytes) -> bytes:
        copy, made = self._salted.copy, []
        for word in of_run(run):  # `element`, without a call for each
            hashed = copy()
            hashed.update(word)
            made.append(_LENGTH + hashed.digest())
        return b"".join(made)


def _rotate() -> None:
    Numbers._room = _REMEMBERED
    for one in Numbers._all:
        one._before = dict(one)
        one.clear()


@cache
def of_flow(flow: int) -> Numbers:
    """The numbers of a flow's open words."""
    return Numbers(flow)


@cache
def of_payloads(flow: int) -> Numbers:
    """The numbers of the words that are for those who may see payloads."""
    return Numbers(flow, payload=True)


def number(element: bytes) -> int:
    """The number that an element stands for, signed."""
    return int.from_bytes(element[len(_LENGTH) :], "big", signed=True)


def each_once(elements: bytes) -> list[bytes]:
    """The elements, each once, in their order."""
    return list(dict.fromkeys(elements[at : at + ELEMENT] for at in range(0, len(elements), ELEMENT)))
