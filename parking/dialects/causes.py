"""What a failure was caused by, out of its stack trace in whatever language: classes from the outermost to the root.

Java prints `Caused by:`, .NET ` ---> `, Node `[cause]:`, Python the cause first and then "The above exception was the
direct cause". Go has no classes; of a panic the type is named where there is one, and of a panic in a panic both.
"""

import re
from collections.abc import Sequence

from parking.dialects import java
from parking.dialects.reading import Why

LOOKED_AT = 256 * 1024
"""Characters of a stack trace that count: a longer one repeats itself."""

_NET_NAME = r"[A-Za-z_][\w.+`]*(?:\[[^\]\n]{0,200}\])?(?=: | \(0x|\r?$)"
_NET_FIRST = re.compile(rf"\s*({_NET_NAME})", re.MULTILINE)
_NET_INNER = re.compile(rf" ?---> ({_NET_NAME}|[A-Za-z_][\w.+`]*(?=\s|$))", re.MULTILINE)
_NET_SIBLING = "---> (Inner Exception #"
_NET_FRAME = re.compile(r"^   at \S", re.MULTILINE)

_JS_FRAME = re.compile(r"^    +at \S", re.MULTILINE)
_JS_FIRST = re.compile(r"(?:Uncaught )?([A-Za-z_$][\w$.]*)(?: \[\w+\])?(?::|\r?\n|$)")
_JS_CAUSE = re.compile(r"^[^\S\n]*(?:\[cause\]|[Cc]aused by): ([A-Za-z_$][\w$.]*)(?: \[\w+\])?(?::|\s|$)", re.MULTILINE)

_PY_TRACE = "Traceback (most recent call last):"
_PY_CAUSED = "The above exception was the direct cause of the following exception:"
_PY_MEANWHILE = "During handling of the above exception, another exception occurred:"
_PY_LAST = re.compile(r"^(?:  [|] )?([A-Za-z_]\w*(?:\.\w+)*)(?::|\r?$)", re.MULTILINE)

_GO_TRACE = re.compile(r"^goroutine \d+ \[", re.MULTILINE)
_GO_PANIC = re.compile(r"^[^\S\n]*panic: (?:(runtime error): |\((\*?[\w./]+)\) )?", re.MULTILINE)


def why(
    named: Sequence[str | None], message: str | None, stacktrace: str | None = None, *, outer: str | None = None
) -> Why:
    """Why a record failed, where the class has no wrapper. `named` are the class headers, if any; `outer` is the class
    as written, where a family says so.
    """
    return Why(java.telling_class(named, stacktrace, chain), message, stacktrace, outer, _roots)


def _roots(stacktrace: str | None) -> tuple[str | None, str | None]:
    found = root(stacktrace)
    return found if found and language(stacktrace or "") == "java" else None, found


def root(stacktrace: str | None) -> str | None:
    """The class that all others of the stack trace were caused by; None where it names none."""
    stack = chain(stacktrace)
    return stack[-1] if stack else None


def chain(stacktrace: str | None) -> list[str]:
    """The classes down a stack trace, outermost first; empty where it names none."""
    if not stacktrace:
        return []
    shown = stacktrace[:LOOKED_AT]
    return _CHAINS[language(shown)](shown)


def language(stacktrace: str) -> str:
    """By its shape: java, dotnet, python, javascript or go. What shows nothing is taken for Java's."""
    if _PY_TRACE in stacktrace:
        return "python"
    if _GO_TRACE.search(stacktrace):
        return "go"
    if "\tat " in stacktrace or "\nCaused by: " in stacktrace:
        return "java"
    if " ---> " in stacktrace or _NET_FRAME.search(stacktrace):
        return "dotnet"
    return "javascript" if _JS_FRAME.search(stacktrace) else "java"


def _dotnet(stack: str) -> list[str]:
    """`A: text ---> B: text`; the other members of an AggregateException are no causes of the first."""
    first = _NET_FIRST.match(stack)
    inner = _NET_INNER.findall(stack.partition(_NET_SIBLING)[0])
    return ([first[1]] if first else []) + inner


def _javascript(stack: str) -> list[str]:
    first = _JS_FIRST.match(stack)
    return ([first[1]] if first else []) + _JS_CAUSE.findall(stack)


def _python(stack: str) -> list[str]:
    """The text has the root first; what merely happened while another was handled is not caused by it."""
    told = stack.rpartition(_PY_MEANWHILE)[2]
    blocks = (part.rpartition(_PY_TRACE)[2] for part in reversed(told.split(_PY_CAUSED)))
    return [found[1] for block in blocks if (found := _PY_LAST.search(block))]


def _go(stack: str) -> list[str]:
    panics = _GO_PANIC.findall(stack.partition("\ngoroutine ")[0])
    types = ("runtime.Error" if runtime else named for runtime, named in reversed(panics))
    return [name for name in types if name]


_CHAINS = {"java": java.chain, "dotnet": _dotnet, "javascript": _javascript, "python": _python, "go": _go}
