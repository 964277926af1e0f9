"""What a reviewer should look at before approving, the gravest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.pages.plan_rows import Row
from console.show.payload import scalars
from parking.errors import Refused
from parking.models import Attempt, EventPayload, Flow
from replay import plan, targets
from replay.amend import violations
from replay.models import Replay

NAMED = 6


@dataclass(frozen=True, slots=True)
class Caution:
    """`strong` says what, `text` what follows from it. A grave one makes approval impossible."""

    strong: str
    text: str
    grave: bool = False


@dataclass(frozen=True, slots=True)
class Amended:
    """A row with its amendment, the original's bytes and the amended ones."""

    row: Row
    before: bytes | None
    after: bytes | None
    before_headers: bytes
    after_headers: bytes


def amended(rows: Sequence[Row]) -> list[Amended]:
    """The amended events of a plan: one query for all originals."""
    wanted = [row for row in rows if row.amendment]
    originals = EventPayload.objects.in_bulk([row.state.pk for row in wanted])
    return [_pair(row, originals.get(row.state.pk)) for row in wanted]


def _pair(row: Row, original: EventPayload | None) -> Amended:
    assert row.amendment is not None
    value, after = original.value if original else None, row.amendment.value
    return Amended(
        row=row,
        before=None if value is None else bytes(value),
        after=None if after is None else bytes(after),
        before_headers=bytes(original.headers) if original else b"",
        after_headers=bytes(row.amendment.headers),
    )


def of_rows(flow: Flow, rows: Sequence[Row], pairs: Sequence[Amended], *, readable: bool) -> list[Caution]:
    """Cautions about the plan itself; what an amendment changes is named only where payloads may be seen."""
    return [*_of_amendments(flow, pairs, readable), *_of_bytes(rows), *_of_poison(rows), *_of_skips(rows)]


def of_request(replay: Replay) -> list[Caution]:
    """Whether the plan is still the one that was asked for; only while it waits."""
    if replay.state != Replay.State.REQUESTED:
        return []
    try:
        same = plan.again(replay).digest == bytes(replay.digest)
    except Refused as refused:
        return [Caution("The plan no longer stands.", f"{refused} Reject or cancel this request.", grave=True)]
    text = "A decision, an amendment or an event changed after it was asked for. Cancel it and ask for the new plan."
    return [] if same else [Caution("The plan has changed.", text, grave=True)]


def of_target(flow: Flow, planned: Sequence[plan.Planned]) -> list[Caution]:
    """What the target does not guarantee for these events; nothing for a flow with the gate."""
    first, *others = targets.warnings(flow, planned) or [""]
    return [Caution("No gate.", " ".join([first, *others]))] if first else []


def _of_amendments(flow: Flow, pairs: Sequence[Amended], readable: bool) -> list[Caution]:
    found = []
    for pair in pairs:
        name = pair.row.event.event_type or pair.row.event.event_id
        what = _changed(pair) if readable else "What it changes is masked for you."
        found.append(Caution(f"{name} is amended.", f"{what} {SAME_KEY if flow.gated else NO_GATE}"))
        wrong = violations(flow, pair.after) if readable else []
        if wrong:
            where = ", ".join(one["path"] or "/" for one in wrong[:NAMED])
            found.append(Caution(f"The amended {name} does not match the flow's schema", f"at {where}.", grave=False))
    return found


NO_GATE = (
    "It keeps its event id: if the original took effect anywhere, only the consumer itself can tell and refuse it."
)
SAME_KEY = (
    "The effect key stays the same: if the original took effect after all, the consumer says so instead of applying "
    "this, the step is a conflict and the replay stops."
)


def _changed(pair: Amended) -> str:
    before, after = scalars(pair.before), scalars(pair.after)
    paths = [path for path in {**before, **after} if before.get(path) != after.get(path)]
    what = ", ".join(path.lstrip("/") for path in paths[:NAMED]) + (" and more" if len(paths) > NAMED else "")
    headers = pair.before_headers != pair.after_headers
    if what:
        return f"The amendment changes {what}{' and headers' if headers else ''}."
    return "The amendment changes only headers." if headers else "The amendment changes the value."


def _of_bytes(rows: Sequence[Row]) -> list[Caution]:
    """Events that are sent as they are although their producer did not keep the original bytes."""
    why = [row.event.not_original for row in rows if row.action == "apply" and row.event.not_original]
    some = "1 event is" if len(why) == 1 else f"{len(why)} events are"
    text = " ".join(dict.fromkeys(why))
    return [Caution(f"{some} not sent with the original bytes.", text)] if why else []


def _of_poison(rows: Sequence[Row]) -> list[Caution]:
    """Poison events that failed validation and are sent again as they are: they will most likely fail again."""
    again = [row.state.pk for row in rows if row.state.kind == "poison" and row.action == "apply"]
    invalid = Attempt.objects.filter(event_state__in=again).exclude(validation_errors=[])
    count = invalid.values("event_state").distinct().count()
    if not count:
        return []
    some = "1 event" if count == 1 else f"{count} events"
    text = "Nothing about it was changed, so it fails again unless the consumer was, and the replay stops there."
    return [Caution(f"{some} failed validation and will be sent as before.", text)]


def _of_skips(rows: Sequence[Row]) -> list[Caution]:
    skipped = [row for row in rows if row.action == "skip"]
    if not skipped:
        return []
    some = "1 event is" if len(skipped) == 1 else f"{len(skipped)} events are"
    return [Caution(f"{some} skipped for good.", "A skipped event can never come back to life.")]
