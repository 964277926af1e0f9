"""Announcements, outcomes and commands: what is written is read again; nothing but Malformed comes of hostile bytes."""

import contextlib
import hashlib
import hmac
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking import wire
from parking.attempt import Attempt, ValidationError, from_json, to_json
from parking.coordinates import Coordinates
from parking.fingerprint import fingerprint
from parking.malformed import Malformed
from parking.record import Headers, Record
from parking.wire import Announcement, Command, Outcome, StillHeld, Wire, names, split
from parking.wire.block import LARGEST, size

AT = Coordinates("orders", 3, 17, 1_700_000_000_000)
PARKED = Announcement(
    kind="poison",
    flow="disputes",
    event_id="é1",
    position=42,
    fingerprint=fingerprint(b"k", b"v", (("a", None), ("a", b""))),
    source=AT,
    key=b"k",
    value=b"v",
    headers=(("a", None), ("a", b"")),
    consumer_group="g",
    attempts=(Attempt(1, 5, "E", "message", "stack", (ValidationError("/a", "b", "c", "d"),), True), Attempt(2)),
    evidence={"model": "m1"},
)
ANSWER = Outcome(
    outcome="applied",
    flow="disputes",
    hold_key=b"k",
    event_id="é1",
    position=42,
    token=7,
    replay_id="12",
    fate_token=0,
    fingerprint=PARKED.fingerprint,
    source=AT,
    consumer_group="g",
    floor=7,
    reason="because",
    evidence={"model": "m1"},
)
ASKED = Command("apply", "disputes", b"k", 7, "12", "é1", b"k", b"v", PARKED.headers, AT, PARKED.fingerprint)


def record(sent: Wire) -> Record:
    return Record("topic", 0, 0, 0, *sent)


@pytest.mark.parametrize(
    "parked",
    [
        PARKED,
        replace(PARKED, kind="held", attempts=(), evidence=None, blocked_by="e0"),
        replace(PARKED, key=None, value=None, headers=()),
        replace(PARKED, key=b"", value=b"", source=Coordinates("t", -1, -1, -1)),
        replace(PARKED, headers=(("siding-version", b"1"), ("siding-kind", b"held"), ("b", b"1"))),
    ],
)
def test_an_announcement_is_read_as_it_was_written(parked: Announcement) -> None:
    assert wire.decode_parking(record(wire.announcement.encode(parked))) == parked


@pytest.mark.parametrize(
    "answer",
    [
        ANSWER,
        Outcome("released", "disputes", b"", position=9, token=7),
        Outcome("refused", "disputes", b"", reason="no"),
        Outcome(
            "still-held", "disputes", b"k", token=7, floor=7, held_count=3, still_held=(StillHeld("e", 4, "held", AT),)
        ),
        replace(ANSWER, outcome="failed", attempts=PARKED.attempts, fingerprint=None, fate_token=None, first_held="e0"),
    ],
)
def test_an_outcome_is_read_as_it_was_written(answer: Outcome) -> None:
    sent = wire.outcome.encode(answer)
    assert (sent.key, sent.value) == (answer.hold_key, None)
    assert wire.decode_parking(record(sent)) == answer


@pytest.mark.parametrize(
    "asked",
    [
        ASKED,
        replace(ASKED, action="skip", value=None),
        replace(ASKED, key=None, hold_key=b"e1"),
        replace(ASKED, key=b"\x00\x00\x00\x00\x05k"),
        replace(ASKED, action="hold", position=3, kind="poison", attempt_number=2),
        Command("release", "disputes", b"k", 7, "12", key=b"k"),
    ],
)
def test_a_command_is_read_as_it_was_written(asked: Command) -> None:
    assert wire.command.decode(record(wire.command.encode(asked))) == asked


def test_a_skip_has_no_value() -> None:
    assert wire.command.encode(replace(ASKED, action="skip")).value is None


def test_the_block_begins_with_the_version_and_stands_last() -> None:
    sent = wire.announcement.encode(PARKED)
    originals, block = split(sent.headers)
    assert originals == PARKED.headers
    assert block[0] == ("siding-version", b"1")
    assert dict(block)["siding-source-timestamp"] == b"1700000000000"
    assert dict(block)["siding-event-id"] == "é1".encode()
    assert dict(block)["siding-fingerprint"] == PARKED.fingerprint.hex().encode()


def test_the_original_key_travels_only_where_it_differs() -> None:
    def own_key(asked: Command) -> list[bytes | None]:
        return [value for name, value in wire.command.encode(asked).headers if name == "siding-key"]

    assert own_key(ASKED) == []
    assert own_key(replace(ASKED, key=None)) == [None]
    assert own_key(replace(ASKED, key=b"other")) == [b"other"]


def test_a_stack_trace_is_cut_first_and_says_so() -> None:
    parked = replace(
        PARKED, attempts=(Attempt(1, 5, "E", "m" * 5_000, "s" * 200_000), Attempt(2, 6, "E", "n", "t" * 10))
    )
    sent = wire.announcement.encode(parked)
    assert size(split(sent.headers)[1]) <= LARGEST
    read = wire.announcement.decode(record(sent))
    assert read.attempts[0].message == "m" * 5_000
    assert read.attempts[0].stacktrace.endswith("\n[cut: 183616 more characters]")
    assert read.attempts[1] == parked.attempts[1]


def test_whatever_is_too_large_the_block_fits() -> None:
    huge = Attempt(1, 5, "E" * 9_000, "é" * 90_000, "s" * 90_000, (ValidationError("/a" * 9_000, "b" * 9_000),) * 90)
    parked = replace(PARKED, attempts=(huge,) * 40, evidence={"prompt": "p" * 90_000}, event_id="é" * 512)
    sent = wire.announcement.encode(parked)
    assert size(split(sent.headers)[1]) <= LARGEST
    read = wire.announcement.decode(record(sent))
    assert read.attempts, "the latest tries are kept"
    assert read.evidence == {"cut": "the evidence did not fit beside the attempts"}


def test_the_original_key_does_not_count_against_the_block() -> None:
    block = split(wire.command.encode(replace(ASKED, key=b"x" * 100_000)).headers)[1]
    assert size(block) < 1_000


def test_a_pointer_has_no_value_and_keeps_the_rest() -> None:
    sent = wire.announcement.as_pointer(wire.announcement.encode(PARKED))
    read = wire.announcement.decode(record(sent))
    assert read == replace(PARKED, value=None, headers=(), pointer=True)


def test_half_surrogates_do_not_stop_an_announcement() -> None:
    parked = replace(
        PARKED, attempts=(Attempt(1, 5, "E", "\ud83d\ude42 \ud800 é", "\udfff"),), evidence={"a": "\ud800"}
    )
    read = wire.announcement.decode(record(wire.announcement.encode(parked)))
    assert read.attempts[0].message == "\U0001f642 � é"
    assert read.evidence == {"a": "�"}


NUMBERS = [b"", b"x", b"+5", b" 5", b"5.0", b"9" * 30, b"-2", "٣".encode(), None, b"\xff", b"0x10"]


@pytest.mark.parametrize("junk", NUMBERS)
@pytest.mark.parametrize("name", [names.POSITION, names.SOURCE_OFFSET])
def test_junk_numbers_of_an_announcement(name: str, junk: bytes | None) -> None:
    changed = _with(wire.announcement.encode(PARKED), name, junk)
    if junk is None and name == names.SOURCE_OFFSET:
        assert wire.announcement.decode(changed).source.offset == -1
    else:
        with pytest.raises(Malformed, match=f"header {name}: expected"):
            wire.announcement.decode(changed)


@pytest.mark.parametrize("junk", NUMBERS)
@pytest.mark.parametrize("name", [names.TOKEN, names.FATE_TOKEN, names.POSITION])
def test_junk_numbers_of_an_outcome(name: str, junk: bytes | None) -> None:
    changed = _with(wire.outcome.encode(ANSWER), name, junk)
    if junk is None:
        wire.outcome.decode(changed)
    else:
        with pytest.raises(Malformed, match=name):
            wire.outcome.decode(changed)


@pytest.mark.parametrize(
    ("name", "junk"),
    [
        (names.VERSION, b"2"),
        (names.VERSION, None),
        (names.KIND, b"maybe"),
        (names.KIND, None),
        (names.FLOW, None),
        (names.FLOW, b"\xff"),
        (names.EVENT_ID, None),
        (names.FINGERPRINT, b"AB" * 32),
        (names.FINGERPRINT, b"ab"),
        (names.SOURCE_TOPIC, None),
        (names.ATTEMPTS, b"{}"),
        (names.ATTEMPTS, b"[" * 100_000),
        (names.ATTEMPTS, b"[" + b"9" * 5_000 + b"]"),
        (names.EVIDENCE, b"[]"),
        (names.EVIDENCE, b'{"a": NaN}'),
        (names.EVIDENCE, b"\xff"),
    ],
)
def test_a_header_that_cannot_be_read_is_named(name: str, junk: bytes | None) -> None:
    with pytest.raises(Malformed, match=f"header {name}: expected"):
        wire.decode_parking(_with(wire.announcement.encode(PARKED), name, junk))


def test_unknown_headers_are_left_alone() -> None:
    sent = wire.announcement.encode(PARKED)
    more = (*sent.headers, ("traceparent", b"00"), ("siding-future", b"\xff"), ("x", None), ("x", None))
    assert wire.announcement.decode(record(sent._replace(headers=more))) == PARKED


def test_a_field_with_two_values_is_refused() -> None:
    """One reader would take the first and another one the last."""
    sent = wire.command.encode(ASKED)
    with pytest.raises(Malformed, match="siding-token: expected one value"):
        wire.command.decode(record(sent._replace(headers=(*sent.headers, ("siding-token", b"8")))))


@pytest.mark.parametrize(
    "listed",
    [
        b'[1, null, "text", [], {}]',
        b'[{"number": "three", "at": 1e400, "error_type": 7, "validation_errors": {}, "retryable": "no"}]',
        b'[{"number": -1, "at": true, "stacktrace": ["a"], "validation_errors": [null, 3, {"path": 5}]}]',
        b'[{"number": 99999999999999999999}]',
    ],
)
def test_attempts_of_other_types_count_as_unknown(listed: bytes) -> None:
    for place, attempt in enumerate(from_json(listed), start=1):
        assert attempt.number == place
        assert attempt.at == -1
        assert attempt.retryable is None
        to_json([attempt])


def test_odd_evidence_of_an_outcome_counts_as_unknown() -> None:
    held = b'[7, {"event_id": 5, "position": "x", "offset": 1e99}]'
    odd = b'{"floor": "high", "held_count": -3, "reason": [], "still_held": ' + held + b"}"
    read = wire.outcome.decode(_with(wire.outcome.encode(ANSWER), names.EVIDENCE, odd))
    assert (read.floor, read.held_count, read.reason) == (None, None, None)
    assert read.still_held == (StillHeld("", None, "", Coordinates("", -1, -1, -1)),)


HEADER_NAMES = st.sampled_from(
    [
        getattr(names, name)
        for name in dir(names)
        if isinstance(getattr(names, name), str) and getattr(names, name).startswith("siding-")
    ]
)
VALUES = (
    st.none()
    | st.binary(max_size=40)
    | st.sampled_from([b"1", b"poison", b"outcome", b"apply", b"release", b"[]", b"{}", b"7", b"a" * 64])
)


@given(st.lists(st.tuples(HEADER_NAMES | st.text(max_size=5), VALUES)), st.none() | st.binary(max_size=5))
def test_nothing_but_malformed_is_raised(headers: list[tuple[str, bytes | None]], key: bytes | None) -> None:
    hostile = Record("t", 0, 0, -1, key, b"v", (("siding-version", b"1"), *headers))
    for decode in (wire.decode_parking, wire.command.decode):
        with contextlib.suppress(Malformed):
            decode(hostile)


@given(st.binary(max_size=8), st.binary(max_size=8))
def test_a_signature_is_of_one_secret(one: bytes, other: bytes) -> None:
    if not one:
        return
    signed = record(wire.command.encode(ASKED, one))
    assert wire.verify(one, signed)
    assert wire.verify(other, signed) == (one.ljust(64, b"\0") == other.ljust(64, b"\0")), (
        "HMAC pads its key with zeros"
    )


def test_the_signature_byte_for_byte() -> None:
    asked = replace(ASKED, source=Coordinates("t", -1, 5, -1))
    fields = [
        b"k",
        b"disputes",
        "é1".encode(),
        b"apply",
        b"7",
        None,
        b"t",
        b"-1",
        b"5",
        b"-1",
        PARKED.fingerprint.hex().encode(),
    ]
    signed = b"".join(b"\xff" * 8 if field is None else len(field).to_bytes(8, "big") + field for field in fields)
    expected = hmac.new(b"secret", signed, hashlib.sha256).hexdigest().encode()
    assert dict(wire.command.encode(asked, b"secret").headers)[names.SIGNATURE] == expected


def _with(sent: Wire, name: str, value: bytes | None) -> Record:
    headers: Headers = tuple((header, value if header == name else old) for header, old in sent.headers)
    return record(sent._replace(headers=headers))
