"""Produces what no Python client would: a header name that is not UTF-8. Through librdkafka's C interface."""

import ctypes
from pathlib import Path

import confluent_kafka

TOPIC, VALUE, HEADERS, END_OF_SIZES = 1, 4, 10, 64


class _Memory(ctypes.Structure):
    _fields_ = [("at", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class _Value(ctypes.Union):
    _fields_ = [
        ("text", ctypes.c_char_p),
        ("pointer", ctypes.c_void_p),
        ("memory", _Memory),
        ("room", ctypes.c_char * END_OF_SIZES),
    ]


class _Field(ctypes.Structure):
    """rd_kafka_vu_t of rdkafka.h."""

    _fields_ = [("kind", ctypes.c_int), ("value", _Value)]


def produce(bootstrap: str, topic: str, value: bytes, header_name: bytes) -> None:
    """One record in partition 0 or wherever the library puts it, acknowledged."""
    library = ctypes.CDLL(
        str(next((Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs").glob("librdkafka*")))
    )
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_headers_new", "rd_kafka_produceva"):
        getattr(library, name).restype = ctypes.c_void_p
    error = ctypes.create_string_buffer(512)
    settings = ctypes.c_void_p(library.rd_kafka_conf_new())
    library.rd_kafka_conf_set(settings, b"bootstrap.servers", bootstrap.encode(), error, 512)
    producer = ctypes.c_void_p(library.rd_kafka_new(0, settings, error, 512))
    headers = ctypes.c_void_p(library.rd_kafka_headers_new(ctypes.c_size_t(1)))
    library.rd_kafka_header_add(headers, header_name, ctypes.c_ssize_t(len(header_name)), b"1", ctypes.c_ssize_t(1))
    fields = (_Field * 3)()
    fields[0].kind, fields[0].value.text = TOPIC, topic.encode()
    fields[1].kind, fields[1].value.memory = VALUE, _Memory(value, len(value))
    fields[2].kind, fields[2].value.pointer = HEADERS, headers
    assert not library.rd_kafka_produceva(producer, ctypes.byref(fields), ctypes.c_size_t(3))
    assert library.rd_kafka_flush(producer, 30_000) == 0
    library.rd_kafka_destroy(producer)
