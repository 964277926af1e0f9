"""MessagePack and CBOR, against their libraries; never guessed on anything else; what is hostile ends soon."""

import json
import math
import struct
import time
from datetime import UTC, datetime

import cbor2
import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.decoding import decode
from parking.decoding.detected import detected
from parking.decoding.writer import DEEPEST

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), TEXTS, st.floats(allow_nan=False, allow_infinity=False)
)
DOCUMENTS = st.dictionaries(
    TEXTS.filter(bool),
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)),
    min_size=1,
    max_size=4,
)


def said(value: bytes, decoder: str) -> str:
    return next(one.said for one in decode(value).verdicts if one.decoder == decoder)


@given(DOCUMENTS, st.sampled_from([("MessagePack", msgpack.packb), ("CBOR", cbor2.dumps)]))
def test_is_what_the_libraries_wrote(document, format_):
    name, pack = format_
    found, verdicts = detected(pack(document))
    if found is None:  # the other one fits these very bytes too
        assert all("nothing tells them apart" in one.said for one in verdicts)
        return
    assert json.loads(found.written) == document
    assert next(one.decoder for one in verdicts if one.fits) == name


@pytest.mark.parametrize("pack", [msgpack.packb, cbor2.dumps])
@pytest.mark.parametrize("size", [15, 16, 23, 24, 31, 32, 255, 256, 2_000])
def test_lengths_of_every_width(pack, size):
    document = {"text": "x" * size * 40, "list": list(range(size)), "map": {f"{n}": None for n in range(size)}}
    assert json.loads(decode(pack(document)).written) == document


@given(st.binary(max_size=300))
def test_any_bytes_end_in_json_or_a_sentence(value):
    found, verdicts = detected(value)
    if found is not None:
        json.loads(found.written)
    assert all(one.said for one in verdicts)


@given(st.text(max_size=300))
def test_never_guessed_on_text(text):
    try:
        value = text.encode()
    except UnicodeEncodeError:
        return
    assert detected(value)[0] is None


@pytest.mark.parametrize(
    "value",
    [
        b"\x93\x01\x02\x03",  # three numbers: any four bytes may be that
        b"\xa5hello",
        b"\x81\x01\xa1a",  # MessagePack: a name that is a number
        b"\x81\xa0\x01",  # an empty name
        b"\x05",
        b"\xc3",
        bytes(range(256)),
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
        b"\xac\xed\x00\x05sr\x00\x01a",
    ],
)
def test_nothing_is_guessed_of_a_few_bytes(value):
    assert detected(value)[0] is None


def test_every_digit():
    number = 10**5000 + 7
    shown = decode(cbor2.dumps({"n": number, "m": -number, "u": 2**64 - 1}))
    assert f'"n":1{"0" * 4999}7,"m":-1{"0" * 4999}7,"u":18446744073709551615' in shown.written
    assert "a number of 5001 digits" in shown.notes[0]
    assert decode(msgpack.packb({"n": 2**64 - 1, "m": -(2**63)})).written == (
        '{"n":18446744073709551615,"m":-9223372036854775808}'
    )


def test_repeated_names_are_all_there_and_told():
    shown = decode(b"\x82\xa1a\x01\xa1a\xff")
    assert (shown.decoder, shown.written) == ("MessagePack", '{"a":1,"a":-1}')
    assert "A name occurs more than once in one object (a)" in shown.notes[0]
    assert decode(b"\xa2\x61a\x01\x61a\x20").written == '{"a":1,"a":-1}'


def test_what_json_does_not_have():
    shown = decode(
        msgpack.packb(
            {"raw": b"\0\xff", "nan": math.nan, "f": msgpack.ExtType(5, b"x"), "deep": {1: 2}}, strict_types=True
        )
    )
    assert json.loads(shown.written) == {
        "raw": "AP8=", "nan": "NaN", "f": {"extension": 5, "bytes": "eA=="}, "deep": {"1": 2},
    }  # fmt: skip
    assert len(shown.notes) == 3
    at = datetime(2026, 11, 30, 1, 2, 3, 4000, UTC)
    packed = msgpack.packb({"at": at}, datetime=True)
    assert decode(packed).written == '{"at":"2026-11-30T01:02:03.004000000Z"}'
    assert decode(b"\x81\xa2at\xc7\x0c\xff\x00\x00\x00\x00" + b"\x7f" * 8).written.startswith('{"at":{"extension":-1')
    shown = decode(b"\xbf\x61a\xf7\x61b\xf9\x7e\x00\x61c\xc1\x1a\x00\x00\x00\x05\x61d\xf0\x61e\x5f\x41a\x41b\xff\xff")
    assert shown.written == '{"a":null,"b":"NaN","c":{"tag":1,"value":5},"d":{"simple":16},"e":"YWI="}'


def test_cbor_that_says_so_needs_no_text_inside():
    assert decode(b"\xd9\xd9\xf7\x83\x01\x02\x03").written == "[1,2,3]"
    assert decode(b"\xd9\xd9\xf7\xa1\x01\x02").written == '{"1":2}'


def test_a_32_bit_number_in_few_digits():
    assert decode(b"\x81\xa1a\xca" + struct.pack(">f", 0.1)).written == '{"a":0.1}'


BOMBS = {
    "maps in maps": b"\x81" * 100_000,
    "arrays in arrays": b"\x91\xa1a" * 1 + b"\x91" * 100_000,
    "names in names": b"\xa1" * 100_000,
    "endless arrays": b"\x9f" * 100_000,
    "tags of tags": b"\x81" + b"\xc1" * 100_000,
    "four billion values": b"\xdd\xff\xff\xff\xff\xa1a",
    "a text of four billion": b"\x81\xa1a\xdb\xff\xff\xff\xff",
    "a text of 2^64": b"\x81\x7b" + b"\xff" * 8,
    "an array of 2^64": b"\x9b" + b"\xff" * 8,
    "two million numbers": b"\xdd\x00\x1e\x84\x80" + b"\x01" * 2_000_000,
    "two million nothings": b"\x9f" + b"\xf6" * 2_000_000 + b"\xff",
    "names of names": b"\x81\x81\x81\x81" * 30_000,
    "a number of a million bytes": b"\xa1\x61a\xc2\x5a\x00\x0f\x42\x40" + b"\xff" * 1_000_000,
    "a million pieces": b"\xa1\x61a\x7f" + b"\x61b" * 1_000_000 + b"\xff",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_soon(name):
    began = time.thread_time()
    found, verdicts = detected(BOMBS[name])
    assert time.thread_time() - began < 3
    assert (found is not None) == (name in ("a number of a million bytes", "a million pieces"))
    assert all(len(one.said) < 200 for one in verdicts)


def test_of_many_values_the_beginning_is_shown_and_the_end_is_read():
    many = [{"n": n, "t": "x"} for n in range(30_000)]
    shown = decode(msgpack.packb(many))
    assert (shown.decoder, shown.whole) == ("MessagePack", False)
    assert shown.written.startswith('[{"n":0,"t":"x"},{"n":1,"t":"x"},')
    assert "Only the beginning is shown" in shown.notes[0]
    assert decode(msgpack.packb(many)[:-1]).form == "hex"
    assert decode(cbor2.dumps({"raw": b"\0" * 5_000_000, "after": 1})).notes[-1].startswith("Only the beginning")


def test_too_deep_says_so():
    assert said(b"\x81\xa1a" * 200 + b"\x01", "MessagePack") == f"nested deeper than {DEEPEST}"
    assert detected(b"\x81\xa1a" * DEEPEST + b"\x01")[0] is not None


@pytest.mark.parametrize(
    ("value", "decoder", "words"),
    [
        (b"\x81\xa1a\xc1", "MessagePack", "byte 4 (0xc1) begins nothing"),
        (b"\x81\xa1a\x01\xff", "MessagePack", "it ends at byte 4, 1 more follow"),
        (b"\x81\xa1\xff\x01", "MessagePack", "the text at byte 3 is not UTF-8"),
        (b"\x82\xa1a\x01", "MessagePack", "announces 4 values, 3 bytes are left"),
        (b"\xa1\x61a\xff", "CBOR", "begins nothing"),
        (b"\xa1\x61a\x1c\xff", "CBOR", "a length that CBOR does not know"),
        (b"\xa1\x7f\x41a\xff\x01", "CBOR", "no piece of the text"),
        (b"\xa1\x61\xff\x01", "CBOR", "is not UTF-8"),
        (b"\xff\x00", "CBOR", "begins like a single number or text"),
    ],
)
def test_why_not(value, decoder, words):
    assert words in said(value, decoder)
