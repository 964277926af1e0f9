"""What confluent-kafka cannot read of a record does not take the record with it."""

from typing import Any, cast

from parking import kafka_in


class Message:
    """A message of the client whose headers it cannot read; a real one needs a producer that breaks the protocol."""

    def __init__(self, headers: Any) -> None:
        self._headers = headers

    def headers(self) -> Any:
        if isinstance(self._headers, Exception):
            raise self._headers
        return self._headers


def test_header_names_that_are_not_utf8():
    error = SystemError("returned a result with an exception set")
    headers, fault = kafka_in._headers(cast("Any", Message(error)))
    assert headers == ()
    assert "not UTF-8" in fault


def test_null_and_empty_and_none():
    given = [("a", None), ("a", b""), ("b", b"1")]
    assert kafka_in._headers(cast("Any", Message(given))) == (tuple(given), "")
    assert kafka_in._headers(cast("Any", Message(None))) == ((), "")
