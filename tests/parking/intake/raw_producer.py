"""A Produce request by hand, for records that no client would send (KIP-98 record batches, Produce version 7)."""

import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

TIMEOUT = 30.0


@dataclass(frozen=True)
class Raw:
    """One record; names of headers are bytes, `timestamp` is any 64-bit number."""

    key: bytes | None = None
    value: bytes | None = None
    headers: Sequence[tuple[bytes, bytes | None]] = field(default_factory=tuple)
    timestamp: int = 1_796_040_000_000


def produce(address: str, topic: str, *records: Raw, partition: int = 0) -> int:
    """Send each record as a batch of its own; the offset of the first. Raises OSError with Kafka's error code."""
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), TIMEOUT) as broker:
        offsets = [_produce(broker, topic, partition, record) for record in records]
    return offsets[0]


def _produce(broker: socket.socket, topic: str, partition: int, record: Raw) -> int:
    batch = _batch(record)
    head = struct.pack(">hhih", 0, 7, 1, -1)  # Produce, version 7, no client id
    body = struct.pack(">hhii", -1, -1, int(TIMEOUT * 1000), 1) + _text(topic)
    body += struct.pack(">iii", 1, partition, len(batch)) + batch
    broker.sendall(struct.pack(">i", len(head + body)) + head + body)
    answer = _read(broker, struct.unpack(">i", _read(broker, 4))[0])
    place = 4 + 4 + 2 + len(topic) + 4 + 4  # correlation, topics, name, partitions, partition
    code, offset = struct.unpack(">hq", answer[place : place + 10])
    if code:
        raise OSError(code, f"Kafka refuses the record: error {code}")
    return int(offset)


def _read(broker: socket.socket, count: int) -> bytes:
    read = b""
    while len(read) < count:
        more = broker.recv(count - len(read))
        if not more:
            raise OSError("Kafka has closed the connection")
        read += more
    return read


def _batch(record: Raw) -> bytes:
    inside = _record(record)
    after_crc = struct.pack(">hiqqqhii", 0, 0, record.timestamp, record.timestamp, -1, -1, -1, 1) + inside
    after_length = struct.pack(">ibI", -1, 2, crc32c(after_crc)) + after_crc
    return struct.pack(">qi", 0, len(after_length)) + after_length


def _record(record: Raw) -> bytes:
    headers = b"".join(_bytes(name) + _bytes(value) for name, value in record.headers)
    body = b"\0" + _varint(0) + _varint(0) + _bytes(record.key) + _bytes(record.value)
    body += _varint(len(record.headers)) + headers
    return _varint(len(body)) + body


def _bytes(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def _varint(number: int) -> bytes:
    """Zigzag, seven bits at a time."""
    left = (number << 1) ^ (number >> 63)
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


@cache
def _table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ 0x82F63B78 if number & 1 else number >> 1
        table.append(number)
    return table


def crc32c(data: bytes) -> int:
    crc, table = 0xFFFFFFFF, _table()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF
