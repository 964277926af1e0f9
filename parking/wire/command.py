"""Replay records: the console tells the consumer to apply, skip or hold an event, or to release a key."""

from dataclasses import dataclass, replace

from parking.coordinates import Coordinates
from parking.fingerprint import fingerprint
from parking.malformed import Malformed
from parking.record import Headers, Record
from parking.wire import names
from parking.wire.block import Block, Wire, build, required, source_fields, split
from parking.wire.signature import sign

LARGEST_TOKEN = 2**62
"""A floor is a token and one more, and has to fit the ledger's 64 bits."""


@dataclass(frozen=True, slots=True)
class Command:
    """One replay record. `key`, `value`, `headers` are those of the event or of its amendment (`value` None on skip).

    `fingerprint` (32 bytes) on `apply` and `hold` is that of `key`, `value` and `headers`; on `skip` that of the
    source record; None on `release`. `position`, `kind` and `attempt_number` are for `hold` alone.
    """

    action: str
    flow: str
    hold_key: bytes
    token: int
    replay_id: str | None
    event_id: str | None = None
    key: bytes | None = None
    value: bytes | None = None
    headers: Headers = ()
    source: Coordinates | None = None
    fingerprint: bytes | None = None
    position: int | None = None
    kind: str | None = None
    attempt_number: int | None = None
    signature: bytes | None = None

    @property
    def sent_fingerprint(self) -> bytes:
        """The fingerprint of the bytes that are in the record."""
        return fingerprint(self.key, self.value, self.headers)


def encode(command: Command, secret: bytes | None = None) -> Wire:
    """The record for the replay topic, signed where the flow has a secret."""
    if secret:
        command = replace(command, signature=sign(secret, command.hold_key, _block(replace(command, signature=None))))
    value = command.value if command.action in (names.APPLY, names.HOLD) else None
    return Wire(command.hold_key, value, (*command.headers, *_block(command)))


def decode(record: Record) -> Command:
    """Read a replay record. Raises Malformed; the signature is not checked here (`parking.wire.signature.verify`)."""
    originals, headers = split(record.headers)
    block = Block(headers)
    action = block.word(names.ACTION, names.ACTIONS)
    command = Command(
        action=action,
        flow=required(names.FLOW, block.text(names.FLOW)),
        hold_key=required("record key", record.key),
        token=_token(block),
        replay_id=block.text(names.REPLAY_ID),
        event_id=block.text(names.EVENT_ID),
        key=block.raw(names.KEY) if names.KEY in block else record.key,
        value=record.value,
        headers=originals,
        source=block.source(),
        fingerprint=block.digest(names.FINGERPRINT),
        position=block.number(names.POSITION),
        kind=block.text(names.KIND),
        attempt_number=block.number(names.ATTEMPT_NUMBER),
        signature=block.raw(names.SIGNATURE),
    )
    return command if action == names.RELEASE else _complete(command)


def _token(block: Block) -> int:
    token = required(names.TOKEN, block.number(names.TOKEN))
    if not 0 < token <= LARGEST_TOKEN:
        raise Malformed(f"header {names.TOKEN}", f"a number from 1 to {LARGEST_TOKEN}", token)
    return token


def _complete(command: Command) -> Command:
    """The command, if it has all that an event needs."""
    required(names.EVENT_ID, command.event_id)
    required(names.FINGERPRINT, command.fingerprint)
    if command.action == names.HOLD:
        required(names.POSITION, command.position)
    return command


def _block(command: Command) -> Headers:
    own_key: tuple[tuple[str, bytes | None], ...] = ()
    if command.action != names.RELEASE and command.key != command.hold_key:
        own_key = ((names.KEY, command.key),)
    return (
        build(
            [
                (names.ACTION, command.action),
                (names.FLOW, command.flow),
                (names.EVENT_ID, command.event_id),
                (names.TOKEN, command.token),
                (names.REPLAY_ID, command.replay_id),
                *source_fields(command.source),
                (names.FINGERPRINT, command.fingerprint.hex() if command.fingerprint else None),
                (names.POSITION, command.position),
                (names.KIND, command.kind),
                (names.ATTEMPT_NUMBER, command.attempt_number),
                (names.SIGNATURE, command.signature),
            ]
        )
        + own_key
    )
