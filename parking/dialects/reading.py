"""How a record is read: who failed, where from, why, how many attempts. Names and meanings: `docs/dialects.md`."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from parking.attempt import Attempt, ValidationError
from parking.record import Headers, Record
from parking.wire import Announcement, Outcome

UNATTRIBUTED = "unattributed"

DEAD_LETTER, RETRY_PENDING, OUTCOME, UNKNOWN = "dead_letter", "retry_pending", "outcome", "unknown"


@dataclass(slots=True)  # not frozen, which takes twice as long to make
class Reading:
    """What one record says; None where it does not say it. Numbers are never −1, texts never empty.

    `source_*` is the position of the latest failure, `origin_*` the oldest position in the record where that is
    another; `error_class` is the first class that is no wrapper, `error_message` the text as it came; `attempts` are
    deliveries made so far; `original_key` and `original_value` stand only where the record's own bytes are a wrapping
    to be undone; `derived` names the fields that were taken from elsewhere than a header of their own.
    `root_cause_from_stack` is of Java stacks only, `root_cause` of all languages. `not_original` says why what a
    replay would send is not, or may not be, what the consumer had been given; empty where it is. `due_at_ms` is when
    an event on a retry topic is to be tried again.
    """

    framework: str
    kind: str
    event_id: str
    source_topic: str | None = None
    source_partition: int | None = None
    source_offset: int | None = None
    source_timestamp_ms: int | None = None
    consumer_group: str | None = None
    error_class: str | None = None
    error_message: str | None = None
    attempts: int | None = None
    stacktrace: str | None = None
    origin_topic: str | None = None
    origin_partition: int | None = None
    origin_offset: int | None = None
    error_class_outer: str | None = None
    root_cause_from_stack: str | None = None
    root_cause: str | None = None
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
    error_group: bytes | None = None
    token: int | None = None
    """Of the replay whose try failed; None for a failure of the live flow."""

    original_headers: Headers = field(default=(), repr=False)
    """The record's headers without those of the failure: what a replay sends."""
    unwrapped: tuple[bytes | None, bytes | None] | None = field(default=None, repr=False)
    """Key and value of the event where the record's own are a wrapping, null ones too; else see `content`."""
    packed_headers: bytes | None = field(default=None, repr=False)
    """The same as `parking.headers.pack` has it, where that was needed anyway."""
    tries: tuple[Attempt, ...] = field(default=(), repr=False)
    """Each try, where the record tells of each."""
    wire: Announcement | Outcome | None = field(default=None, repr=False)
    """All that a record of our own says."""
    doubts: tuple[str, ...] = ()
    """What was lost or could not be read on the way, one sentence each."""

    def content(self, record: Record) -> tuple[bytes | None, bytes | None]:
        """Key and value as a replay sends them: the record's own bytes, where they are not a wrapping to be undone."""
        if self.unwrapped is not None:
            return self.unwrapped
        key = record.key if self.original_key is None else self.original_key
        return key, record.value if self.original_value is None else self.original_value

    def shown(self) -> dict[str, Any]:
        """The reading as JSON members: bytes as base64 or hex, all names present, `doubts` last."""
        members = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NOT_SHOWN}
        members["original_key_b64"] = _b64(members.pop("original_key"))
        members["original_value_b64"] = _b64(members.pop("original_value"))
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


_NOT_SHOWN = frozenset(("original_headers", "unwrapped", "packed_headers", "tries", "wire"))


def _b64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _members(error: ValidationError) -> Mapping[str, str]:
    return {"path": error.path, "expected": error.expected, "actual": error.actual, "hint": error.hint}
