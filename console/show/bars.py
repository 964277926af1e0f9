"""A row of small bars, as numbers for an SVG that the server writes: no script, no style attribute."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.show.texts import number

GAP = 1
FLAT = 1  # a bar of nothing is still drawn: it says that nothing came, not that nothing is known


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar from its upper left corner; `high` stands out from the others; `title` is told on hover."""

    x: int
    y: int
    width: int
    height: int
    high: bool
    title: str


@dataclass(frozen=True, slots=True)
class Bars:
    """All bars, the size of the picture, and the same in words."""

    bars: tuple[Bar, ...]
    width: int
    height: int
    total: int
    label: str


def bars(
    values: Sequence[int], titles: Sequence[str], *, what: str, unit: str, height: int = 20, width: int = 4
) -> Bars:
    """Bars as high as their values, the highest as high as the picture.

    `titles` name each place (`14:00`), `what` and `unit` all of it: `parked in 24 h`, `hour`.
    """
    top, total = max(values, default=0), sum(values)
    mean = total / len(values) if values else 0
    drawn = tuple(
        _bar(at, value, f"{title}: {number(value)}", top=top, mean=mean, height=height, width=width)
        for at, (value, title) in enumerate(zip(values, titles, strict=True))
    )
    label = f"{number(total)} {what}, at most {number(top)} in one {unit}" if total else f"none {what}"
    return Bars(drawn, max(1, len(drawn) * (width + GAP) - GAP), height, total, label)


def _bar(at: int, value: int, title: str, *, top: int, mean: float, height: int, width: int) -> Bar:
    tall = max(FLAT + 1, round(value / top * height)) if value else FLAT
    return Bar(at * (width + GAP), height - tall, width, tall, value > 0 and value >= 3 * mean, title)
