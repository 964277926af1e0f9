"""Write an edited copy of a parked event, and decide that it shall be applied. The original is never touched."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import jsonschema_rs
import orjson
from django.db import transaction
from django.utils import timezone

from parking import headers as packed
from parking.actor import Actor
from parking.decoding import frame
from parking.errors import Conflict, Refused
from parking.event_id import event_id
from parking.fingerprint import fingerprint
from parking.models import Amendment, Decision, EventPayload, EventState, Flow
from parking.moment import said
from parking.reason import required
from parking.record import Headers, Record
from replay import decide

SHOWN = 120
MOST = 50
NO_OTHERS: Mapping[str, Any] = MappingProxyType({})


def amend(
    *,
    event_state_id: int,
    value: bytes | None,
    headers: Headers,
    actor: Actor,
    reason: str,
    seen_version: int = 1,
) -> Amendment:
    """The next version of the event, with this value (None is a tombstone) and these headers; the key stays.

    `seen_version` is the newest version that the person saw, 1 for the original. Raises Conflict if there is a newer
    one; Refused where `replay.decide` refuses, if nothing changed, if the event's id would change, or if the flow's
    schema does not allow the value.
    """
    reason = required(reason, "what is changed and why")
    headers = tuple((name, value) for name, value in headers)
    _sendable(headers)
    with transaction.atomic():
        event = decide.undecided_until_commit(event_state_id)
        version = _next_version(event, seen_version)
        original = _original(event)
        _checked(event, original, value, headers)
        amendment = Amendment.objects.create(
            event_state=event,
            version=version,
            value=value,
            headers=packed.pack(headers),
            fingerprint=fingerprint(original.key, value, headers),
            actor_id=actor.id,
            actor_name=actor.name,
            at=timezone.now(),
        )
        decide.record(event, action=Decision.Action.AMEND, amendment=amendment, reason=reason, actor=actor)
        return amendment


def violations(flow: Flow, value: bytes | None) -> list[dict[str, str]]:
    """Where the value is not what the flow's schema wants: `path` (JSON pointer), `expected`, `actual`, `hint`.

    Empty if it is, if the flow has no schema, or if the value is a tombstone. Of a value that names a schema of a
    registry, only JSON is looked at: Avro and Protobuf are checked by that schema, where they are edited.
    """
    if flow.schema is None or value is None:
        return []
    return against(flow.schema, value)


def against(schema: Any, value: bytes, others: Mapping[str, Any] = NO_OTHERS) -> list[dict[str, str]]:
    """The same by a JSON Schema, which refers to `others` by their names; a registry's frame is left out.

    Nothing is fetched: what is at another address stays unknown.
    """
    framed = frame.find(value, (), "value")
    document = value[frame.body(framed) :] if framed else value
    if framed and document[:1] not in (b"{", b"["):
        return []
    try:
        return _violations(schema, orjson.loads(document), others)
    except orjson.JSONDecodeError as error:
        return [_violation("", "JSON", _shown(document), f"line {error.lineno}, column {error.colno}: {error.msg}")]


def _violations(schema: Any, document: Any, others: Mapping[str, Any]) -> list[dict[str, str]]:
    def referred(uri: str) -> Any:
        return others[uri.removeprefix("json-schema:///")]

    try:
        found = jsonschema_rs.validator_for(schema, retriever=referred).iter_errors(document)
        return [_of(error, schema) for error, _ in zip(found, range(MOST), strict=False)]
    except ValueError as error:
        return [_violation("", "a sound JSON Schema", "", f"the schema's owner has to correct it: {error}")]


def _of(error: Any, schema: Any) -> dict[str, str]:
    path = "".join(f"/{part}" for part in error.instance_path)
    return _violation(path, _expected(error, schema), _shown(error.instance), _cut(error.message, 500))


def _expected(error: Any, schema: Any) -> str:
    """The schema's own words for what was expected; the keyword alone where they stand behind a reference."""
    try:
        for part in error.schema_path:
            schema = schema[part]
    except (KeyError, IndexError, TypeError):
        return str(error.kind.name)
    return f"{error.schema_path[-1]}: {_cut(str(schema), SHOWN)}" if error.schema_path else str(error.kind.name)


def _violation(path: str, expected: str, actual: str, hint: str) -> dict[str, str]:
    return {"path": path, "expected": expected, "actual": actual, "hint": hint}


def _shown(value: object) -> str:
    return _cut(value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value), SHOWN)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest] + "…"


def _sendable(headers: Headers) -> None:
    for name, _ in headers:
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            raise Refused(f"The header name {name!a} is no text that Kafka could carry: correct it.") from None
        if "\0" in name or not name:
            raise Refused(f"The header name {name!a} is empty or contains NUL: correct it.")


def _next_version(event: EventState, seen_version: int) -> int:
    newest = event.amendments.order_by("-version").first()
    version = newest.version if newest else 1
    if newest and version != seen_version:
        raise Conflict(
            f"{newest.actor_name} wrote version {version} at {said(newest.at)}; you started from version "
            f"{seen_version}. Nothing of yours is lost: compare, then save it on top of version {version}.",
            who=newest.actor_name,
            at=newest.at,
            what=f"version {version}",
        )
    if version != seen_version:
        raise Refused(f"There is no version {seen_version} of this event: the newest is {version}.")
    return version + 1


def _original(event: EventState) -> Record:
    payload = EventPayload.objects.filter(pk=event.pk, stored_at=event.stored_at).first()
    if payload is None:
        raise Refused("The original's bytes are no longer stored: it cannot be amended.")
    return Record(
        topic=event.event.source_topic,
        partition=-1,
        offset=-1,
        timestamp_ms=-1,
        key=None if payload.key is None else bytes(payload.key),
        value=None if payload.value is None else bytes(payload.value),
        headers=packed.unpack(payload.headers),
    )


def _checked(event: EventState, original: Record, value: bytes | None, headers: Headers) -> None:
    if value == original.value and headers == original.headers:
        raise Refused("Nothing is changed: decide apply to replay the event as it is.")
    amended = Record(original.topic, -1, -1, -1, original.key, value, headers)
    if event_id(amended) != event_id(original):
        raise Refused(
            f"The headers would make it another event ({event_id(amended)[:SHOWN]} instead of {event.event.event_id}): "
            "event-id, ce_source and ce_id have to stay as they are, or it would no longer be the same event."
        )
    wrong = violations(event.flow, value)
    if wrong:
        first = wrong[0]
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise Refused(f"The value does not match the flow's schema at {first['path'] or '/'}: {first['hint']}{more}.")
