"""One failed try at processing an event, and what was wrong with it, as they travel in the header `siding-attempts`."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from parking.malformed import Malformed

LARGEST = 2**63 - 1


@dataclass(slots=True)
class ValidationError:
    """Where in the value (`path`, a JSON pointer: /amount_cents), what was expected, what arrived, what to do."""

    path: str
    expected: str = ""
    actual: str = ""
    hint: str = ""


@dataclass(slots=True)  # not frozen, which takes twice as long to make; nothing changes it
class Attempt:
    """One failed try. `number` counts from 1 over the event's whole life; `at` is milliseconds since 1970 or −1."""

    number: int
    at: int = -1
    error_type: str = ""
    message: str = ""
    stacktrace: str = ""
    validation_errors: tuple[ValidationError, ...] = ()
    retryable: bool | None = None


def to_json(attempts: Iterable[Attempt]) -> bytes:
    """The attempts, oldest first, as the JSON list of the header, in UTF-8. Half a surrogate pair becomes U+FFFD."""
    return json.dumps([_members(attempt) for attempt in attempts], ensure_ascii=False, separators=(",", ":")).encode()


def from_json(data: bytes, where: str = "attempts") -> tuple[Attempt, ...]:
    """The inverse of `to_json`. A member of the wrong type counts as unknown; raises Malformed if it is no list."""
    try:
        listed = _json(data)
    except (ValueError, RecursionError):
        raise Malformed(where, "a JSON list of attempts", data) from None
    if not isinstance(listed, list):
        raise Malformed(where, "a JSON list of attempts", data)
    return tuple([_attempt(number, members) for number, members in enumerate(listed, start=1)])


def _json(data: bytes) -> Any:
    """As `json.loads`, which looks for encodings and blanks that our own records do not have."""
    try:
        text = data.decode("utf-8")
        found, end = _DECODER.raw_decode(text)
    except ValueError:
        return json.loads(data)
    return found if end == len(text) else json.loads(data)


_DECODER = json.JSONDecoder()


def whole(text: str) -> str:
    """The text with half surrogate pairs, which have no UTF-8, replaced by U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _members(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "at": attempt.at,
        "error_type": whole(attempt.error_type),
        "message": whole(attempt.message),
        "stacktrace": whole(attempt.stacktrace),
        "validation_errors": [
            {name: whole(str(getattr(error, name))) for name in ("path", "expected", "actual", "hint")}
            for error in attempt.validation_errors
        ],
        "retryable": attempt.retryable,
    }


def _attempt(place: int, members: object) -> Attempt:
    if not isinstance(members, dict):
        return Attempt(number=place, message=_text(members))
    value = members.get
    retryable, errors = value("retryable"), value("validation_errors")
    return Attempt(
        _number(value("number"), place, 1),
        _number(value("at"), -1, 0),
        _text(value("error_type")),
        _text(value("message")),
        _text(value("stacktrace")),
        tuple(map(_validation_error, errors)) if errors and isinstance(errors, list) else (),
        retryable if isinstance(retryable, bool) else None,
    )


def _validation_error(members: object) -> ValidationError:
    if not isinstance(members, Mapping):
        return ValidationError(path="", actual=_text(members))
    return ValidationError(*(_text(members.get(name)) for name in ("path", "expected", "actual", "hint")))


def _number(number: object, unknown: int, least: int) -> int:
    return number if type(number) is int and least <= number <= LARGEST else unknown


def _text(value: object) -> str:
    if isinstance(value, str):
        return value if value.isascii() else whole(value)
    return "" if value is None else whole(json.dumps(value))
