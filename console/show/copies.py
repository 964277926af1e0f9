"""A parked event as commands and records that somebody can paste: exact, quoted for a POSIX shell."""

import shlex

from parking.record import Headers, Record, to_json_line


def kcat(bootstrap: str, topic: str, partition: int | None, offset: int | None) -> str:
    """Reads the original record from its source; it does not produce, because nothing may pass the gate that way."""
    if partition is None or offset is None:
        return ""
    layout = "key %k%nheaders %h%n%s%n"
    parts = [
        "kcat",
        "-C",
        "-b",
        bootstrap,
        "-t",
        topic,
        "-p",
        str(partition),
        "-o",
        str(offset),
        "-c",
        "1",
        "-f",
        layout,
    ]
    return shlex.join(parts)


def curl(address: str) -> str:
    """Fetches the exact value from here, with the session of the browser."""
    return shlex.join(["curl", "-fsS", "--cookie", "sessionid=<yours>", "-o", "value.bin", address])


def json_line(
    *,
    topic: str,
    partition: int,
    offset: int,
    timestamp_ms: int,
    key: bytes | None,
    value: bytes | None,
    headers: Headers,
) -> str:
    """The original record as one line of JSON, everything in base64: what `manage.py inspect` reads."""
    return to_json_line(Record(topic, partition, offset, timestamp_ms, key, value, headers))
