"""Why a decision is what it is: model, prompt, policy and tool versions, and trace ids."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from parking.consumer.event import Event

_noted: ContextVar[dict[str, Any] | None] = ContextVar("siding_evidence", default=None)
TRACES = ("traceparent", "tracestate")


def note(**members: Any) -> None:
    """Called in a handler: keep this (JSON) with whatever becomes of the event, also where something unexpected fails.

    The usual names are model, prompt, policy, tools (a mapping of names to versions) and trace_ids. What Poison or
    Effect bring themselves is added; theirs wins.
    """
    if (noted := _noted.get()) is not None:
        noted.update(members)


def noting(handler: Callable[[Event], Any], event: Event, noted: dict[str, Any]) -> Any:
    """Call the handler; what it notes, now or (a coroutine) later in this context, goes into `noted`."""
    _noted.set(noted)
    return handler(event)


def traces(event: Event) -> dict[str, Any]:
    """The event's own trace headers."""
    found = {name: event.header(name) for name in TRACES}
    return {name: value.decode("utf-8", "replace") for name, value in found.items() if value}


def together(noted: Mapping[str, Any], own: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What was noted, and what the decision itself brings."""
    return {**noted, **own} if isinstance(own, Mapping) else (own or dict(noted) or None)
