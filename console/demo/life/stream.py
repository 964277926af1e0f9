"""Parked records without end, for benchmarks and load: what three kinds of producer write about failed events. Pure.

About 1 kB each. 20 000 keys by Zipf's law: the busiest has a tenth of all events, most have one or two. 60 shapes of
errors, each one error group. The same seed makes the same records, at some 10 microseconds each.
"""

import hashlib
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate
from random import Random
from typing import Literal, NamedTuple

from console.demo.plain import records
from parking import headers as packed
from parking.attempt import Attempt
from parking.coordinates import Coordinates
from parking.fields import pack
from parking.record import Headers
from parking.wire import Announcement, Wire, announcement, names, split

Producer = Literal["native", "spring", "connect"]

KEYS, PARTITIONS = 20_000, 6
TYPES = (
    "AmountNotPositive", "TaxRateMissing", "AccountIsClosed", "UnknownDepot", "LimitExceeded", "CurrencyMismatch",
    "DuplicateCharge", "ScheduleConflict", "QuotaExhausted", "StaleVersion", "SignatureInvalid", "CarrierRefused",
)  # fmt: skip
SAID = ("order {n} was refused", "line {n} has no price", "step {n} timed out", "no rule for code {n}", "limit is {n}")
SHAPES = len(TYPES) * len(SAID)
WORDS = ("urgent", "gift wrapped", "second try", "agreed by phone", "see the letter", "export", "bulk", "returned")
VALUE = (
    b'{"order":"ord-%d","account":"acc-%05d","amount_cents":%d,"currency":"EUR","note":"%b",'
    b'"lines":[{"article":"art-%04d","count":%d,"text":"a part that fits, in its usual box, from the usual shelf"},'
    b'{"article":"art-%04d","count":1,"text":"another one, which goes with the first and is not sold apart from it"}],'
    b'"delivery":{"street":"Example Street %d","city":"Sampleton","country":"XI"},"ledger_seq":%d}'
)
EVENT_ID, TRACE = b"evt-" + b"_" * 16, b"00-" + b"_" * 32 + b"-00f067aa0ba902b7-01"  # as long as the real ones
NUMBER = "424242"
STACK_LINES = 3


class Event(NamedTuple):
    """The n-th failed event; `number` is what differs in its error's message."""

    n: int
    key: bytes
    event_id: bytes
    value: bytes
    trace: bytes
    shape: int
    number: bytes
    sent_ms: int
    partition: int
    blocked_by: bytes | None


def group(producer: Producer, flow: str) -> str:
    """The consumer group that the records name."""
    return f"connect-{flow}" if producer == "connect" else f"{flow}-service"


def wires(producer: Producer, count: int, *, flow: str, at_ms: int, seed: int = 1) -> Iterator[Wire]:
    """Records of the flow's parking topic, whose source topic has the flow's name; the first was sent at `at_ms`."""
    write = {"native": _native, "spring": _spring, "connect": _connect}[producer]
    return (write(flow, event) for event in events(count, at_ms=at_ms, seed=seed))


def events(count: int, *, at_ms: int, seed: int) -> Iterator[Event]:
    random = Random(seed)  # noqa: S311 - made-up data
    first: dict[int, bytes] = {}
    weights = list(accumulate(1 / rank for rank in range(1, KEYS + 1)))
    for begin in range(0, count, 10_000):
        chosen = random.choices(range(KEYS), cum_weights=weights, k=min(10_000, count - begin))
        for n, key in enumerate(chosen, begin):
            dice = random.getrandbits(32)
            event_id = b"evt-%016x" % (n * 0x9E3779B97F4A7C15 % 2**64)
            blocked_by = first.setdefault(key, event_id)
            yield Event(
                n,
                b"acc-%05d" % key,
                event_id,
                _value(n, key, dice),
                b"00-%032x-00f067aa0ba902b7-01" % (n * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128),
                dice % SHAPES,
                b"%d" % (dice % 90_000),
                at_ms + n,
                key % PARTITIONS,
                None if blocked_by is event_id or dice % 5 == 0 else blocked_by,
            )


def _value(n: int, key: int, dice: int) -> bytes:
    word = WORDS[dice % len(WORDS)].encode()
    return VALUE % (n, key, dice % 90_000, word, dice % 9973, dice % 7 + 1, dice % 8191, dice % 200, 2**53 + n)


def error(shape: int) -> tuple[str, str]:
    """Type and message of a shape, with NUMBER where the message differs from event to event."""
    return TYPES[shape % len(TYPES)], SAID[shape // len(TYPES)].replace("{n}", NUMBER)


# Native: the event's own ten headers, and the block

_ITS_OWN: Headers = (
    ("event-id", EVENT_ID),
    ("event-type", b"OrderPlaced"),
    ("content-type", b"application/json"),
    ("traceparent", TRACE),
    ("source", b"shop"),
    ("schema-version", b"7"),
    ("tenant", b"north"),
    ("tag", b"bulk"),
    ("tag", b"demo"),
    ("note", None),
)
_BEFORE_ID, _, _AFTER_ID = packed.pack(_ITS_OWN).partition(EVENT_ID)
_BETWEEN, _, _AFTER_TRACE = _AFTER_ID.partition(TRACE)


def _native(flow: str, event: Event) -> Wire:
    own = ((_ITS_OWN[0][0], event.event_id), *_ITS_OWN[1:3], (_ITS_OWN[3][0], event.trace), *_ITS_OWN[4:])
    fields = (pack([event.key, event.value]), _BEFORE_ID, event.event_id, _BETWEEN, event.trace, _AFTER_TRACE)
    filled = {
        names.EVENT_ID: event.event_id,
        names.POSITION: b"%d" % event.sent_ms,
        names.FINGERPRINT: hashlib.sha256(b"".join(fields)).hexdigest().encode(),
        names.SOURCE_PARTITION: b"%d" % event.partition,
        names.SOURCE_OFFSET: b"%d" % event.n,
        names.SOURCE_TIMESTAMP: b"%d" % event.sent_ms,
        names.BLOCKED_BY: event.blocked_by,
    }
    block, tries = _block(flow, -1 if event.blocked_by else event.shape)
    filled[names.ATTEMPTS] = tries.replace(NUMBER.encode(), event.number)
    return Wire(event.key, event.value, (*own, *[(name, filled.get(name, value)) for name, value in block]))


@cache
def _block(flow: str, shape: int) -> tuple[Headers, bytes]:
    """The block of a poison event with that error, or for −1 of a held one, as the kit writes it; and its attempts."""
    tries: tuple[Attempt, ...] = ()
    if shape >= 0:
        error_type, message = error(shape)
        stack = (
            f'Traceback (most recent call last):\n  File "shop/place.py", line 41, in __call__\n{error_type}: {message}'
        )
        tries = (Attempt(1, 1_700_000_000_000, error_type, message, stack),)
    told = Announcement(
        kind="poison" if tries else "held",
        flow=flow,
        event_id="",
        position=0,
        fingerprint=bytes(32),
        source=Coordinates(flow, 0, 0, 0),
        key=None,
        value=None,
        consumer_group=group("native", flow),
        attempts=tries,
        blocked_by=None if tries else "",
    )
    _, block = split(announcement.encode(told).headers)
    return block, dict(block).get(names.ATTEMPTS) or b""


# Spring and Connect: three headers of the event's own, and what the framework adds


def _spring(flow: str, event: Event) -> Wire:
    return _of_framework("spring", flow, event, {
        "kafka_dlt-original-partition": struct.pack(">i", event.partition),
        "kafka_dlt-original-offset": struct.pack(">q", event.n),
        "kafka_dlt-original-timestamp": struct.pack(">q", event.sent_ms),
    })  # fmt: skip


def _connect(flow: str, event: Event) -> Wire:
    return _of_framework("connect", flow, event, {
        "__connect.errors.partition": b"%d" % event.partition,
        "__connect.errors.offset": b"%d" % event.n,
    })  # fmt: skip


SPEAKING = ("exception-message", "exception.message", "stacktrace")
"""How names end whose values have NUMBER in them."""


def _of_framework(producer: Producer, flow: str, event: Event, filled: Mapping[str, bytes]) -> Wire:
    own = (("event-id", event.event_id), *_ITS_OWN[1:2], ("traceparent", event.trace))
    number = NUMBER.encode()
    added = [
        (name, value.replace(number, event.number) if value and name.endswith(SPEAKING) else filled.get(name, value))
        for name, value in _added(producer, flow, event.shape)
    ]
    return Wire(event.key, event.value, (*own, *added))


@cache
def _added(producer: Producer, flow: str, shape: int) -> Headers:
    """The framework's headers for that error; its stack trace without the lines that only make it long."""
    error_type, message = error(shape)
    values: dict[str, records.Value] = {
        "topic": flow, "partition": 0, "offset": 0, "sent": 0, "group": group(producer, flow), "connector": flow,
        "error": f"com.example.shop.{error_type}Exception", "message": message,
    }  # fmt: skip
    form = "listener" if producer == "spring" else "put"
    return tuple(
        (name, b"\n".join(value.splitlines()[:STACK_LINES]) if value and name.endswith("stacktrace") else value)
        for name, value in records.added(producer, form, values)
    )
