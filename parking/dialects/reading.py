"""How a record is read: who failed, where from, why, how many attempts. Names and meanings: `docs/dialects.md`."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from parking import error_group
from parking.attempt import ValidationError
from parking.dialects.origin import NOWHERE, Position
from parking.record import Headers, Record
from parking.wire import Announcement, Outcome

if TYPE_CHECKING:
    from parking.dialects.layout import Layout

UNATTRIBUTED = "unattributed"

DEAD_LETTER, RETRY_PENDING, OUTCOME, UNKNOWN = "dead_letter", "retry_pending", "outcome", "unknown"


class Why(NamedTuple):
    """Why it failed: `error_class` is the first class that is no wrapper, `message` and `stacktrace` as they came,
    `outer` the class as written. `roots` finds the last class in the stack trace, of a Java stack and of any language.
    """

    error_class: str | None = None
    message: str | None = None
    stacktrace: str | None = None
    outer: str | None = None
    roots: Callable[[str | None], tuple[str | None, str | None]] = lambda _stacktrace: (None, None)


UNKNOWN_WHY = Why()


@dataclass(slots=True)  # not frozen, which takes twice as long to make
class Reading:
    """What one record says; None where it does not say it. Numbers are never −1, texts never empty.

    `source` is the position of the latest failure, `origin` the oldest position in the record where that is another;
    `attempts` are deliveries made so far; `original_key` and `original_value` stand only where the record's own bytes
    are a wrapping to be undone; `derived` names the fields that were taken from elsewhere than a header of their own.
    `not_original` says why what a replay would send is not, or may not be, what the consumer had been given; empty
    where it is. `due_at_ms` is when an event on a retry topic is to be tried again.
    """

    framework: str
    kind: str
    event_id: str
    source: Position = NOWHERE
    origin: Position | None = None
    why: Why = UNKNOWN_WHY
    consumer_group: str | None = None
    attempts: int | None = None
    failed_at_ms: int | None = None
    first_failed_at_ms: int | None = None
    due_at_ms: int | None = None
    component: str | None = None
    stage: str | None = None
    original_key: bytes | None = None
    original_value: bytes | None = None
    payload_missing: bool | None = None
    position_may_be_earlier_pass: bool | None = None
    derived: tuple[str, ...] = ()
    not_original: str = ""
    validation_errors: tuple[ValidationError, ...] = ()
    token: int | None = None
    """Of the replay whose try failed; None for a failure of the live flow."""

    original_headers: Headers = field(default=(), repr=False)
    """The record's headers without those of the failure: what a replay sends."""
    unwrapped: tuple[bytes | None, bytes | None] | None = field(default=None, repr=False)
    """Key and value of the event where the record's own are a wrapping, null ones too; else see `content`."""
    layout: "Layout | None" = field(default=None, repr=False)
    """Of the record's headers."""
    packed_headers: bytes | None = field(default=None, repr=False)
    """The original ones as `parking.headers.pack` has them, where that was needed anyway."""
    wire: Announcement | Outcome | None = field(default=None, repr=False)
    """All that a record of our own says."""
    doubts: tuple[str, ...] = ()
    """What was lost or could not be read on the way, one sentence each."""

    @property
    def source_topic(self) -> str | None:
        return self.source.topic or None

    @property
    def source_partition(self) -> int | None:
        return self.source.partition

    @property
    def source_offset(self) -> int | None:
        return self.source.offset

    @property
    def source_timestamp_ms(self) -> int | None:
        return self.source.timestamp_ms

    @property
    def origin_topic(self) -> str | None:
        return (self.origin.topic or None) if self.origin else None

    @property
    def origin_partition(self) -> int | None:
        return self.origin.partition if self.origin else None

    @property
    def origin_offset(self) -> int | None:
        return self.origin.offset if self.origin else None

    @property
    def error_class(self) -> str | None:
        return self.why.error_class

    @property
    def error_class_outer(self) -> str | None:
        return self.why.outer

    @property
    def error_message(self) -> str | None:
        return self.why.message

    @property
    def stacktrace(self) -> str | None:
        return self.why.stacktrace

    @property
    def root_cause_from_stack(self) -> str | None:
        """Of Java stacks only (dlq formats, §10)."""
        return self.why.roots(self.why.stacktrace)[0]

    @property
    def root_cause(self) -> str | None:
        """Of all languages."""
        return self.why.roots(self.why.stacktrace)[1]

    @property
    def error_group(self) -> bytes | None:
        """The digest of its error group; None for what is no failure."""
        if self.why is UNKNOWN_WHY:
            return None
        return error_group.group(self.error_class or self.error_class_outer, self.error_message, self.stacktrace).digest

    def content(self, record: Record) -> tuple[bytes | None, bytes | None]:
        """Key and value as a replay sends them: the record's own bytes, where they are not a wrapping to be undone."""
        if self.unwrapped is not None:
            return self.unwrapped
        key = record.key if self.original_key is None else self.original_key
        return key, record.value if self.original_value is None else self.original_value

    def shown(self) -> dict[str, Any]:
        """The reading as JSON members: bytes as base64 or hex, all names present, `doubts` last."""
        members = {name: getattr(self, name) for name in _SHOWN}
        members["original_key_b64"] = _b64(self.original_key)
        members["original_value_b64"] = _b64(self.original_value)
        members["derived"] = list(self.derived)
        members["validation_errors"] = [_members(error) for error in self.validation_errors]
        members["error_group"] = self.error_group.hex() if self.error_group else None
        members["doubts"] = list(self.doubts)
        return members


class Unreadable(Exception):
    """A record of this dialect that cannot be read. The message says where, what was expected, what arrived."""

    def __init__(self, framework: str, message: str) -> None:
        self.framework = framework
        super().__init__(message)


def unattributed(record: Record, event_id: str) -> Reading:
    """A record that no dialect knows: kept and shown as it is, nothing guessed."""
    return Reading(UNATTRIBUTED, UNKNOWN, event_id, payload_missing=False, original_headers=record.headers)


_SHOWN = (
    "framework", "kind", "event_id", "source_topic", "source_partition", "source_offset", "source_timestamp_ms",
    "consumer_group", "error_class", "error_message", "attempts", "stacktrace", "origin_topic", "origin_partition",
    "origin_offset", "error_class_outer", "root_cause_from_stack", "root_cause", "failed_at_ms", "first_failed_at_ms",
    "due_at_ms", "component", "stage", "payload_missing", "position_may_be_earlier_pass", "derived", "not_original",
    "validation_errors", "error_group", "token", "doubts",
)  # fmt: skip


def _b64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _members(error: ValidationError) -> Mapping[str, str]:
    return {"path": error.path, "expected": error.expected, "actual": error.actual, "hint": error.hint}
