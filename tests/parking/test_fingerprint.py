"""Fields, fingerprints and content digests."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.fields import pack, unpack
from parking.fingerprint import content, fingerprint
from parking.malformed import Malformed

FIELDS = st.lists(st.none() | st.binary(max_size=20))


@given(FIELDS)
def test_fields_survive(fields: list[bytes | None]) -> None:
    assert unpack(pack(fields)) == fields


@given(FIELDS, FIELDS)
def test_different_fields_never_give_the_same_bytes(one: list[bytes | None], other: list[bytes | None]) -> None:
    assert (pack(one) == pack(other)) == (one == other)


@pytest.mark.parametrize("packed", [b"\x00", bytes(7) + b"\x05ab", b"\xff" * 7 + b"\xfe"])
def test_bytes_that_are_no_fields(packed: bytes) -> None:
    with pytest.raises(Malformed):
        unpack(packed)


def test_the_fingerprint_byte_for_byte() -> None:
    """DESIGN section 5: 8-byte big-endian lengths, null as −1, key, value, then each header's name and value."""
    name = "hé".encode()
    expected = (
        (1).to_bytes(8, "big")
        + b"k"
        + b"\xff" * 8
        + len(name).to_bytes(8, "big")
        + name
        + (0).to_bytes(8, "big")
        + (1).to_bytes(8, "big")
        + b"n"
        + b"\xff" * 8
    )
    assert fingerprint(b"k", None, (("hé", b""), ("n", None))) == hashlib.sha256(expected).digest()


def test_null_and_empty_and_order_differ() -> None:
    seen = {
        fingerprint(None, None, ()),
        fingerprint(b"", None, ()),
        fingerprint(None, b"", ()),
        fingerprint(b"a", b"b", ()),
        fingerprint(b"ab", b"", ()),
        fingerprint(b"a", b"b", (("x", b"1"), ("y", b"2"))),
        fingerprint(b"a", b"b", (("y", b"2"), ("x", b"1"))),
        fingerprint(b"a", b"b", (("x", None),)),
    }
    assert len(seen) == 8


def test_content_is_key_and_value_alone() -> None:
    assert content(b"a", b"b") == fingerprint(b"a", b"b", ())
    assert len({content(b"a", b"b"), content(b"ab", b""), content(b"", b"ab"), content(None, b"ab")}) == 4
