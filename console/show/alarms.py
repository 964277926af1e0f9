"""What an incident is about, in the few words that fit on a chip."""

from collections.abc import Mapping
from datetime import timedelta

from console.show.texts import number, span


def short(kind: str, detail: Mapping[str, object]) -> str:
    """`age over 5 m`, `depth over 100`, `intake is silent`; other kinds as they are called: `restored ledger`."""
    threshold = detail.get("threshold")
    if kind == "age" and isinstance(threshold, int):
        return f"age over {span(timedelta(seconds=threshold))}"
    if kind == "depth" and isinstance(threshold, int):
        return f"depth over {number(threshold)}"
    if kind == "stale":
        return "intake is silent"
    return kind.replace("-", " ")
