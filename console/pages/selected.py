"""One event as its pages show it: error, validation errors, payload, attempts, as far as the viewer may see them."""

from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from console import access, schemas
from console.access import Permission
from console.looks import look
from console.pages import found
from console.pages.track import label
from console.show import difference, headers, payload
from parking.decoding import Decoded
from parking.headers import unpack
from parking.models import Amendment, Attempt, EventPayload, EventState, Quarantine
from parking.record import Headers

VIEWS = ("amended", "difference", "original", "text", "hex")
MANY = 1_000


@dataclass(frozen=True, slots=True)
class Selected:
    """`readable`: may this viewer see payloads here; `stored` is None where not, and where retention removed it."""

    event: EventState
    readable: bool
    stored: EventPayload | None
    attempts: list[Attempt]
    amendments: list[Amendment]
    decision: str
    same_reason: int
    errors: list[dict[str, Any]] = field(default_factory=list)
    decoded: Decoded | None = None
    decoded_key: Decoded | None = None
    decoded_amendment: Decoded | None = None

    @property
    def masked(self) -> bool:
        return not self.readable

    @property
    def error_type(self) -> str:
        return (self.attempts[0].error_type if self.attempts else "") or self.event.event.error_type

    @property
    def error_message(self) -> str:
        return (self.attempts[0].message if self.attempts else "") or self.event.event.error_message

    @property
    def amendment(self) -> Amendment | None:
        """The one that is decided, else none."""
        decision = getattr(self.event, "decision", None)
        return decision.amendment if decision else None

    @property
    def value(self) -> bytes | None:
        return _bytes(self.stored.value) if self.stored else None

    @property
    def size(self) -> int:
        return len(self.value or b"")

    @property
    def header_rows(self) -> list[headers.Shown]:
        """All headers, in order; the template hides the values where they may not be seen."""
        return headers.rows(headers_of(self.event))

    @property
    def original(self) -> payload.Shown:
        """The original with its validation errors marked, and what the amendment puts in their place."""
        amended = payload.scalars(_bytes(self.amendment.value), self.decoded_amendment) if self.amendment else {}
        version = self.amendment.version if self.amendment else 0
        notes = {path: f" → v{version}: {token}" for path, token in amended.items()}
        return payload.shown(self.value, self.decoded, errors=self.errors, notes=notes)

    @property
    def amended(self) -> payload.Shown | None:
        return payload.shown(_bytes(self.amendment.value), self.decoded_amendment) if self.amendment else None

    @property
    def difference(self) -> list[difference.Row]:
        meant = difference.Meant(self.decoded, self.decoded_amendment)
        return difference.in_one(self.value, _bytes(self.amendment.value), meant) if self.amendment else []

    @property
    def text(self) -> payload.Shown | None:
        return payload.as_text(self.value) if self.value else None

    @property
    def hex(self) -> payload.Shown | None:
        return payload.hexadecimal(self.value) if self.value else None


def select(request: HttpRequest, event: EventState, *, what: str = "page") -> Selected:
    """Everything about the event that this viewer may see; looking at its payload is journalled."""
    readable = access.of(request.user).may(event.flow_id, Permission.PAYLOADS)
    attempts = list(event.attempts.order_by("-number", "-token"))
    if readable:
        look(event=event, actor=found.actor(request.user), what=what)
    stored = EventPayload.objects.filter(pk=event.pk).first() if readable else None
    return Selected(
        event=event,
        readable=readable,
        stored=stored,
        attempts=attempts,
        amendments=list(event.amendments.order_by("-version")) if readable else [],
        decision=label(event),
        same_reason=same_reason(event),
        errors=next((attempt.validation_errors for attempt in attempts if attempt.validation_errors), []),
        **_decoded(event, stored),
    )


def _decoded(event: EventState, stored: EventPayload | None) -> dict[str, Decoded]:
    """What key, value and the decided amendment's value are; nothing of what may not be seen or is not there."""
    if stored is None:
        return {}
    cluster, ordered = event.flow.cluster, unpack(stored.headers)
    found = {
        "decoded": schemas.read(cluster, _bytes(stored.value), ordered),
        "decoded_key": schemas.read(cluster, _bytes(stored.key), ordered, part="key"),
    }
    amendment = getattr(event, "decision", None) and event.decision.amendment
    if amendment:
        found["decoded_amendment"] = schemas.read(cluster, _bytes(amendment.value), unpack(amendment.headers))
    return found


def same_reason(event: EventState) -> int:
    """How many other keys are stopped by the same error now; counts up to 1000."""
    if event.error_group_id is None:
        return 0
    others = EventState.objects.filter(error_group=event.error_group_id, state=EventState.State.PARKED)
    stopped = others.exclude(quarantine=event.quarantine_id).exclude(quarantine__state=Quarantine.State.RELEASED)
    return stopped.order_by().values("quarantine").distinct()[:MANY].count()


def headers_of(event: EventState) -> Headers:
    """The original's headers in their order; none where retention removed them."""
    packed = EventPayload.objects.filter(pk=event.pk).values_list("headers", flat=True).first()
    return unpack(packed) if packed is not None else ()


def _bytes(value: object) -> bytes | None:
    return None if value is None else bytes(value)  # type: ignore[call-overload]
