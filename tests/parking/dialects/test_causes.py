"""Root causes out of the stack traces of all languages, as their runtimes print them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.dialects import causes

JAVA = (
    "org.springframework.messaging.MessagingException: failed\n\tat a.B.c(B.java:1)\n"
    "Caused by: com.example.Refused: no\n\tat a.B.d(B.java:2)\n\t... 3 more\nCaused by: java.io.IOException\n"
)
NET = (
    "System.InvalidOperationException: Ledger closed\r\n ---> System.TimeoutException: gateway\r\n"
    "   at Example.Gateway.Ask()\r\n   --- End of inner exception stack trace ---\r\n"
    "   at Example.Billing.Handle(OrderPlaced message) in C:\\src\\Billing.cs:line 12"
)
AGGREGATE = (
    "System.AggregateException: One or more errors occurred. (a) (b)\n ---> Example.First`1[System.String]: a\n"
    "   at X.Y()\n   --- End of inner exception stack trace ---\n   at Z.W()\n"
    " ---> (Inner Exception #1) Example.Second: b\n   at V.U()<---\n"
)
NODE = (
    "TypeError [ERR_X]: qty must be positive\n    at Service.handler (/srv/app.js:10:2) {\n"
    "  [cause]: RangeError: -2\n      at check (/srv/check.js:3:1)\n}"
)
PYTHON = (
    "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x()\nKeyError: 'a'\n\n"
    "The above exception was the direct cause of the following exception:\n\n"
    'Traceback (most recent call last):\n  File "a.py", line 3, in g\n    y()\n    ^^^\nshop.errors.Unknown: a\nsee b\n'
)
MEANWHILE = PYTHON.replace(
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
GO = (
    "panic: first [recovered]\n\tpanic: runtime error: index out of range [5] with length 3\n\n"
    "goroutine 1 [running]:\nmain.main()\n\t/srv/main.go:3 +0x1d\n"
)


@pytest.mark.parametrize(
    ("stacktrace", "language", "chain"),
    [
        (
            JAVA,
            "java",
            ["org.springframework.messaging.MessagingException", "com.example.Refused", "java.io.IOException"],
        ),
        (NET, "dotnet", ["System.InvalidOperationException", "System.TimeoutException"]),
        (AGGREGATE, "dotnet", ["System.AggregateException", "Example.First`1[System.String]"]),
        ("Old.Style: m ---> Inner.One: n\n   at A.B()\n", "dotnet", ["Old.Style", "Inner.One"]),
        (NODE, "javascript", ["TypeError", "RangeError"]),
        ("RangeError\n    at /srv/app.js:10:2", "javascript", ["RangeError"]),
        (PYTHON, "python", ["shop.errors.Unknown", "KeyError"]),
        (MEANWHILE, "python", ["shop.errors.Unknown"]),
        (GO, "go", ["runtime.Error"]),
        ("panic: (*shop.Refused) 0xc0\n\ngoroutine 7 [running]:\n", "go", ["*shop.Refused"]),
        ("goroutine 7 [running]:\nmain.main()\n", "go", []),
        ("", "java", []),
        ("closed", "java", []),
    ],
)
def test_classes_from_the_outermost_to_the_root(stacktrace, language, chain):
    assert causes.language(stacktrace) == language
    assert causes.chain(stacktrace) == chain
    assert causes.root(stacktrace) == (chain[-1] if chain else None)


def test_the_class_is_the_first_that_is_no_wrapper_and_the_root_is_told_apart():
    why = causes.why(["org.springframework.messaging.MessagingException"], "failed", JAVA)
    assert (why.error_class, why.roots(why.stacktrace)[1]) == ("com.example.Refused", "java.io.IOException")
    assert why.roots(why.stacktrace)[0] == "java.io.IOException"


def test_the_root_of_another_language_is_not_called_one_of_a_java_stack():
    why = causes.why(["System.InvalidOperationException"], "Ledger closed", NET)
    assert why.error_class == "System.InvalidOperationException"
    assert why.roots(why.stacktrace) == (None, "System.TimeoutException")


def test_without_a_class_header_it_is_the_stack_s():
    assert causes.why([None], None, PYTHON).error_class == "shop.errors.Unknown"


LINES = st.sampled_from(
    [
        *JAVA.splitlines(),
        *NET.splitlines(),
        *AGGREGATE.splitlines(),
        *NODE.splitlines(),
        *PYTHON.splitlines(),
        *GO.splitlines(),
    ]
)


@given(st.lists(st.one_of(LINES, st.text()), max_size=30).map("\n".join))
def test_no_text_raises(stacktrace):
    found = causes.chain(stacktrace)
    assert all(isinstance(name, str) and name for name in found)


@pytest.mark.parametrize(
    "line",
    [
        "a" * 300_000,
        "   at " + ") in " * 60_000,
        " ---> " * 60_000,
        "a." * 150_000,
        "Caused by: " * 30_000,
        "    at x\n" + "\n" * 40_000,
        "panic: x" + "\n" * 40_000 + "goroutine 1 [",
    ],
    ids=["word", "at", "arrows", "dots", "causes", "blank-lines-of-javascript", "blank-lines-of-go"],
)
def test_no_text_takes_long(line, within):
    with within(1.0):
        causes.chain(line)
        causes.chain(f"Traceback (most recent call last):\n{line}\n{line}")
