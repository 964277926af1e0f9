"""Values that Confluent's own serializers wrote (confluent-kafka 2.16.1, synthetic): in front and by GUID in a header.

`schemas` are as the client registered them, Protobuf as a descriptor in base64; a reference is (name, its number).
"""

import base64
import json
from pathlib import Path
from uuid import UUID

import pytest

from parking.decoding import Schema, decode, laid_out, rewritable, rewrite

WRITTEN = json.loads((Path(__file__).parent / "confluent.json").read_text())


def schema(number: int) -> Schema:
    told = WRITTEN["schemas"][str(number)]
    references = tuple((name, WRITTEN["schemas"][str(other)]["schema"]) for name, other in told["references"])
    return Schema(told["schemaType"], told["schema"], references)


@pytest.mark.parametrize("record", WRITTEN["records"], ids=lambda record: record["name"])
def test_is_read_and_goes_back_to_the_same_bytes(record):
    value, headers = base64.b64decode(record["value"]), [(n, base64.b64decode(v)) for n, v in record["headers"]]
    asked: list[int | str] = []

    def schema_of(wanted: int | str) -> Schema:
        asked.append(wanted)
        return schema(record["schema"])

    shown = decode(value, headers=headers, schema_of=schema_of)
    assert shown.written == record["document"]
    assert shown.verdicts[0].fits
    assert shown.notes == ()
    named = str(UUID(bytes=headers[0][1][1:17])) if headers else record["schema"]
    assert asked == [named]
    assert rewritable(value, shown)
    if shown.decoder != "JSON Schema":  # of which even the blanks are the value
        assert rewrite(laid_out(shown.written), value, shown) == value
