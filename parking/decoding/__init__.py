"""Bytes as people read them: which decoder fits, why the others do not, and what is special about the value.

`decode` looks at one key or value; nothing here knows a network, a clock or a database. What came from Kafka decides
neither how long a reader works, nor how deep it goes, nor how much it writes (`parking.decoding.writer`).
"""

from parking.decoding.choose import decode
from parking.decoding.errors import NoSchema, NotWritable
from parking.decoding.layout import laid_out, readable
from parking.decoding.report import Decoded, Verdict
from parking.decoding.rewrite import rewritable, rewrite
from parking.decoding.schema import AVRO, JSON, PROTOBUF, Schema, SchemaId, SchemaOf

__all__ = [
    "AVRO",
    "JSON",
    "PROTOBUF",
    "Decoded",
    "NoSchema",
    "NotWritable",
    "Schema",
    "SchemaId",
    "SchemaOf",
    "Verdict",
    "decode",
    "laid_out",
    "readable",
    "rewritable",
    "rewrite",
]
