"""What each event of a plan would send: its stored bytes, or its amendment's, checked against what was approved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from parking import headers
from parking.errors import Refused
from parking.fingerprint import fingerprint
from parking.models import Amendment, EventPayload, EventState
from parking.record import Headers
from replay.models import Step
from replay.plan import Planned

CHUNK = 200


@dataclass(frozen=True, slots=True)
class Bytes:
    """What one event would send."""

    key: bytes | None
    value: bytes | None
    headers: Headers


SCRUBBED = Bytes(None, None, ())
"""What is left of an event whose bytes retention has removed: it can be skipped, under its hold key."""


def of(steps: Iterable[Step | Planned]) -> list[Bytes | None]:
    """What each step sends, in their order: the amendment's value and headers where there is one."""
    steps = list(steps)
    payloads = _payloads([step.event_state_id for step in steps])
    amendments = Amendment.objects.in_bulk([step.amendment_id for step in steps if step.amendment_id])
    return [
        SCRUBBED
        if step.action == Step.Action.SKIP and step.event_state_id not in payloads
        else _merged(payloads.get(step.event_state_id), amendments.get(step.amendment_id or 0))
        for step in steps
    ]


def unsound(step: Step | Planned, sent: Bytes | None) -> str:
    """Why the stored bytes are not what the plan says; empty if they are."""
    if sent is None:
        return "its bytes are no longer stored"
    if step.action != Step.Action.SKIP and not step.fingerprint:
        return "its key and value are still to be fetched from the source topic"
    if step.action != Step.Action.SKIP and fingerprint(sent.key, sent.value, sent.headers) != bytes(step.fingerprint):
        return "its stored bytes do not have its fingerprint (too large to be parked whole, or damaged)"
    return ""


def checked(planned: Sequence[Planned]) -> Iterable[tuple[Planned, Bytes]]:
    """Each event with what it sends. Raises Refused for one whose bytes are not those that would be approved."""
    for start in range(0, len(planned), CHUNK):
        chunk = planned[start : start + CHUNK]
        for one, sent in zip(chunk, of(chunk), strict=True):
            refusal = unsound(one, sent)
            if refusal or sent is None:
                raise Refused(f"{one.event_id} cannot be replayed: {refusal}.")
            yield one, sent


def _payloads(ids: Sequence[int]) -> Mapping[int, EventPayload]:
    days = EventState.objects.filter(pk__in=ids).values_list("stored_at", flat=True)
    return EventPayload.objects.filter(stored_at__in=set(days)).in_bulk(ids)


def _merged(payload: EventPayload | None, amendment: Amendment | None) -> Bytes | None:
    if payload is None:
        return None
    written = amendment or payload
    value = None if written.value is None else bytes(written.value)
    return Bytes(None if payload.key is None else bytes(payload.key), value, headers.unpack(written.headers))
