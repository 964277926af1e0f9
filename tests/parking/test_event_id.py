"""Event ids."""

import hashlib

import pytest

from parking.coordinates import Coordinates
from parking.event_id import conflicting, event_id
from parking.record import Record


def of(*headers: tuple[str, bytes | None]) -> str:
    return event_id(Record("orders", 3, 17, 1_700_000_000_000, b"k", b"v", headers))


COORDINATES = "orders/3/17@1700000000000"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ((), COORDINATES),
        ((("event-id", b"e1"),), "e1"),
        ((("event-id", b"first"), ("event-id", b"second")), "first"),
        ((("event-id", b""), ("event-id", b"second")), COORDINATES),
        ((("event-id", None),), COORDINATES),
        ((("event-id", b"\xff"),), COORDINATES),
        ((("event-id", "é\x00".encode()),), "é\x00"),
        ((("ce_id", b"7"), ("ce_source", b"/shop")), "/shop#7"),
        ((("event-id", b"e1"), ("ce_id", b"7"), ("ce_source", b"/shop")), "e1"),
        ((("event-id", b""), ("ce_id", b"7"), ("ce_source", b"/shop")), "/shop#7"),
        ((("ce_id", b"7"),), COORDINATES),
        ((("ce_id", b"7"), ("ce_source", b"")), COORDINATES),
        ((("ce_id", b"\xff"), ("ce_source", b"/shop")), COORDINATES),
        ((("Event-Id", b"e1"),), COORDINATES),
    ],
)
def test_which_header_names_the_event(headers: tuple[tuple[str, bytes | None], ...], expected: str) -> None:
    assert of(*headers) == expected


def test_an_unknown_timestamp() -> None:
    assert event_id(Record("t", 0, 0, -1, None, None)) == "t/0/0@-1"


def test_an_id_of_more_than_a_kibibyte_is_its_digest() -> None:
    assert of(("event-id", b"x" * 1024)) == "x" * 1024
    assert of(("event-id", b"x" * 1025)) == "sha256:" + hashlib.sha256(b"x" * 1025).hexdigest()
    assert of(("event-id", "é".encode() * 513)).startswith("sha256:"), "bytes count, not characters"


def test_the_id_of_a_conflicting_event() -> None:
    at = Coordinates("orders", 3, 18, 5)
    assert conflicting("e1", at) == "e1#orders/3/18@5"
    assert conflicting("x" * 1020, at).startswith("sha256:")
