"""Source records: what fails is parked with everything behind it, and nothing else stops."""

from parking.consumer.conformance import contract
from parking.consumer.conformance.line import Line, Violation, same
from parking.event_id import conflicting, event_id
from parking.fingerprint import fingerprint
from parking.record import Headers, Record
from parking.wire import Announcement, names, split


def poison_is_announced_byte_for_byte(line: Line) -> None:
    """A poison event is announced with its key, value and headers as they were, repeats and nulls included."""
    name = line.name("e")
    headers: Headers = (("tag", b"1"), ("event-id", name.encode()), ("tag", b"\x00\xff"), ("note", None), ("", b""))
    sent = line.source(line.name("k").encode(), contract.value(fail=True, text="\u00e9"), headers)
    found = line.announced(name, names.POISON)
    same("key", sent.key, found.record.key)
    same("value", sent.value, found.record.value)
    originals, block = split(found.record.headers)
    same("headers before the block", headers, originals)
    same("first header of the block", (names.VERSION, b"1"), block[0])
    _says(found.reads, sent, line.flow)
    if not found.reads.attempts:
        raise Violation(f"{name}: expected {names.ATTEMPTS} with the try that failed, found none")


def what_follows_is_held_in_order(line: Line) -> None:
    """Every later event of a quarantined key is held behind it, at a higher position, and names what blocks it."""
    key, names_ = line.name("k"), [line.name("e") for _ in range(4)]
    line.event(key, names_[0], fail=True)
    sent = [line.event(key, name) for name in names_[1:]]
    first = line.announced(names_[0], names.POISON).reads
    held = [line.announced(name, names.HELD).reads for name in names_[1:]]
    positions = [first.position, *(one.position for one in held)]
    if None in positions or positions != sorted(set(positions)):  # type: ignore[type-var]
        raise Violation(f"{key}: expected positions that grow in the order of the source, found {positions}")
    for one, record in zip(held, sent, strict=True):
        _says(one, record, line.flow)
        same(f"{names.BLOCKED_BY} of {one.event_id}", names_[0], one.blocked_by)  # type: ignore[union-attr]
    line.has_no_effect(key)


def other_keys_go_on(line: Line) -> None:
    """A quarantined key stops no other key of its partition."""
    bad, good = line.name("k"), [line.name("k") for _ in range(6)]
    line.event(bad, line.name("e"), fail=True)
    events = [(key, line.name("e")) for key in good]
    for key, name in events:
        line.event(key, name)
    for _, name in events:
        line.took_effect(name)


def a_repeated_event_has_one_effect(line: Line) -> None:
    """The same event delivered again, at another offset, takes effect once and parks nothing."""
    key, name, after = line.name("k"), line.name("e"), line.name("e")
    headers: Headers = (("event-id", name.encode()),)
    for _ in range(3):
        line.source(key.encode(), contract.value(text="same"), headers)
    line.event(key, after)
    line.took_effect(after)
    line.effects_are(key, [name, after])


def another_event_with_the_same_id_is_poison(line: Line) -> None:
    """An event that wears the id of an earlier one with other content is poison under `<id>#<coordinates>`."""
    key, name = line.name("k"), line.name("e")
    line.event(key, name)
    line.took_effect(name)
    other = line.event(key, name)
    line.announced(conflicting(name, other.coordinates), names.POISON)


def ids_come_from_the_record(line: Line) -> None:
    """Without `event-id` the id is `<ce_source>#<ce_id>`, else the coordinates; a long one is its SHA-256."""
    bad, run = contract.value(fail=True), line.name("x")
    cloud: Headers = (("ce_id", b"7"), ("ce_source", run.encode()))
    for headers in (cloud, (("event-id", b""),), (("event-id", b"\xff"),), (("event-id", b"x" * 2000),)):
        sent = line.source(line.name("k").encode(), bad + run.encode(), headers)
        line.announced(event_id(sent), names.POISON)


def a_key_or_a_value_may_be_null(line: Line) -> None:
    """A tombstone and an event without a key are parked as such; without a key an event is held alone."""
    first = line.source(line.name("k").encode(), None, (("event-id", line.name("e").encode()),))
    same("value of a tombstone", None, line.announced(event_id(first), names.POISON).record.value)
    second = line.source(None, contract.value(fail=True), (("event-id", line.name("e").encode()),))
    third = line.source(None, contract.value(), (("event-id", line.name("e").encode()),))
    same("key of an event without one", None, line.announced(event_id(second), names.POISON).record.key)
    line.took_effect(event_id(third))


def a_block_in_the_original_is_content(line: Line) -> None:
    """An original that already carries Siding headers keeps them, before the block."""
    name = line.name("e")
    headers: Headers = (("event-id", name.encode()), (names.VERSION, b"1"), (names.KIND, b"outcome"), ("tag", b"x"))
    line.source(line.name("k").encode(), contract.value(fail=True), headers)
    found = line.announced(name, names.POISON)
    same("headers before the block", headers, split(found.record.headers)[0])
    same(names.FINGERPRINT, fingerprint(found.record.key, found.record.value, headers).hex(), _hex(found.reads))


def _says(found: object, sent: Record, flow: str) -> None:
    """What the block must say of the source record."""
    if not isinstance(found, Announcement):
        raise Violation(f"expected an announcement of {sent.coordinates}, found {type(found).__name__}")
    same(names.FLOW, flow, found.flow)
    same(f"source of {found.event_id}", sent.coordinates, found.source)
    same(f"{names.FINGERPRINT} of {found.event_id}", fingerprint(sent.key, sent.value, sent.headers).hex(), _hex(found))
    if found.position < 0:
        raise Violation(f"{names.POSITION} of {found.event_id}: expected at least 0, found {found.position}")


def _hex(found: object) -> str | None:
    told = getattr(found, "fingerprint", None)
    return told.hex() if isinstance(told, bytes) else None


CASES = (
    poison_is_announced_byte_for_byte,
    what_follows_is_held_in_order,
    other_keys_go_on,
    a_repeated_event_has_one_effect,
    another_event_with_the_same_id_is_poison,
    ids_come_from_the_record,
    a_key_or_a_value_may_be_null,
    a_block_in_the_original_is_content,
)
