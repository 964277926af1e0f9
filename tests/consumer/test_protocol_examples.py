"""docs/protocol.md shows the bytes that are sent."""

from pathlib import Path

from parking import wire
from parking.fingerprint import fingerprint
from parking.record import from_json_line
from parking.wire import command, names
from tests.consumer.protocol_examples import FILE, SECRET, lines


def test_the_examples_are_what_is_sent():
    assert FILE.read_text().splitlines() == lines(), "python -m tests.consumer.protocol_examples writes them anew"


def test_the_examples_read():
    for line in lines():
        record = from_json_line(line)
        if record.topic.endswith("replay"):
            assert wire.verify(SECRET, record)
            assert command.decode(record).flow == "orders"
        else:
            assert wire.decode_parking(record).flow == "orders"


def test_every_word_of_the_protocol_has_an_example():
    shown = {
        value
        for line in lines()
        for name, value in from_json_line(line).headers
        if name in (names.KIND, names.ACTION, names.OUTCOME)
    }
    assert {word.decode() for word in shown if word} == {*names.KINDS, "outcome", *names.ACTIONS, *names.OUTCOMES}


def test_the_worked_fingerprint_is_right():
    text = (Path(__file__).parents[2] / "docs/protocol.md").read_text()
    assert f"= {fingerprint(b'k', b'{}', (('a', None),)).hex()}" in text
