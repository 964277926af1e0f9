"""Classes in Java failures: the first that is no wrapper, and the root of the stack (dlq formats, rule 7)."""

import re
from collections.abc import Callable, Sequence

from parking.dialects.reading import Why

WRAPPERS = frozenset(
    (
        "org.springframework.kafka.listener.ListenerExecutionFailedException",
        "org.springframework.kafka.listener.TimestampedException",
        "org.springframework.kafka.support.serializer.DeserializationException",
        "org.springframework.messaging.MessagingException",
        "org.springframework.messaging.MessageHandlingException",
        "org.springframework.core.retry.RetryException",
        "java.util.concurrent.CompletionException",
        "java.util.concurrent.ExecutionException",
        "java.lang.reflect.InvocationTargetException",
        "io.smallrye.reactive.messaging.providers.ProcessingException",
        "org.apache.kafka.common.errors.RecordDeserializationException",
    )
)

_CLASS = r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+"
_STATED = re.compile(rf"({_CLASS})(?::|\s|$)|([A-Za-z_$][\w$]*)(?::|\r?\n)")
"""A class; the second one is of no package, which any word could be."""
_FRAME = "\n\tat "
_CAUSED_BY = "\nCaused by: "


def why(named: Sequence[str | None], message: str | None, stacktrace: str | None) -> Why:
    """Why a record failed. `named` are the class headers, outer first."""
    return Why(telling_class(named, stacktrace, chain), message, stacktrace, named[0] if named else None, _roots)


def _roots(stacktrace: str | None) -> tuple[str | None, str | None]:
    stack = chain(stacktrace)
    return (stack[-1], stack[-1]) if stack else (None, None)


def chain(stacktrace: str | None) -> list[str]:
    """The classes down a stack trace: of its first line, then of each cause; suppressed (indented) ones not."""
    if not stacktrace:
        return []
    stated = _STATED.match(stacktrace)
    found = [stated[1] or stated[2]] if stated and (stated[1] or _FRAME in stacktrace) else []
    place = stacktrace.find(_CAUSED_BY)
    while place >= 0:
        place += len(_CAUSED_BY)
        if stated := _STATED.match(stacktrace, place):
            found.append(stated[1] or stated[2])
        place = stacktrace.find(_CAUSED_BY, place)
    return found


def telling_class(
    named: Sequence[str | None], stacktrace: str | None, chain: Callable[[str | None], list[str]]
) -> str | None:
    """The first class that is no wrapper: in the class headers, outer then cause, then down the stack; None if none."""
    for name in named:
        if name and name not in WRAPPERS:
            return name
    return next((name for name in chain(stacktrace) if name and name not in WRAPPERS), None)
