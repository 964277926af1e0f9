"""Classes in Java failures: the first that is no wrapper, and the root of the stack (dlq formats, rule 7)."""

import re
from collections.abc import Sequence
from typing import Any

from parking import error_group

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
_FIRST_LINE = re.compile(rf"({_CLASS})(?::|\s|$)")
_CAUSED_BY = re.compile(rf"^Caused by: ({_CLASS})(?::|\s|$)", re.MULTILINE)


def fields(named: Sequence[str | None], message: str | None, stacktrace: str | None) -> dict[str, Any]:
    """The members of a Reading that say why. `named` are the class headers, outer first."""
    stack = chain(stacktrace)
    outer = named[0] if named else None
    error_class = telling_class(named, stack)
    return {
        "error_class": error_class,
        "error_message": message,
        "stacktrace": stacktrace,
        "error_class_outer": outer,
        "root_cause_from_stack": stack[-1] if stack else None,
        "error_group": error_group.group(error_class or outer, message, stacktrace).digest,
    }


def chain(stacktrace: str | None) -> list[str]:
    """The classes down a stack trace: of its first line, then of each cause; suppressed (indented) ones not."""
    if not stacktrace:
        return []
    outermost = _FIRST_LINE.match(stacktrace)
    return ([outermost[1]] if outermost else []) + _CAUSED_BY.findall(stacktrace)


def telling_class(named: Sequence[str | None], stack: Sequence[str]) -> str | None:
    """The first class that is no wrapper: in the class headers, outer then cause, then down the stack; None if none."""
    return next((name for name in [*named, *stack] if name and name not in WRAPPERS), None)
