"""The queue of one key as a track: head first, gaps and leaks drawn where they are."""

from collections.abc import Iterator
from dataclasses import dataclass

from console.pages.kept import kept
from console.show.missing import Missing, missing
from parking.models import EventState, Outcome, Quarantine
from replay.models import Step

MOST = 100
REPLACED = "\ufffd"  # the text could not be stored as it was: it names no event that could be looked up
OUTCOMES = 5  # the latest ones that tell what the consumer holds


@dataclass(frozen=True, slots=True)
class Car:
    """One event on the track. `mark` is its sign, `word` what stands beside it, `decision` its chip."""

    event: EventState
    mark: str
    word: str
    head: bool
    leak: bool
    decision: str


@dataclass(frozen=True, slots=True)
class Track:
    """`cars` in order; `gaps` by the id of the event before which they are, None after the last; `settled` left out."""

    cars: list[Car]
    gaps: dict[int | None, list[Missing]]
    settled: int
    more: int | None

    @property
    def pieces(self) -> Iterator[tuple[str, Car | list[Missing]]]:
        """What to draw, in order: ("gap", missing events) and ("car", event)."""
        for car in self.cars:
            if gap := self.gaps.get(car.event.pk):
                yield "gap", gap
            yield "car", car
        if gap := self.gaps.get(None):
            yield "gap", gap


def track(quarantine: Quarantine, *, after: int = -1, settled: bool = False) -> Track:
    """At most 100 events from the head on, or after that position; settled ones only if few or asked for."""
    total = quarantine.depth + quarantine.settled
    events = EventState.objects.in_order(quarantine).filter(position__gt=after)
    if not settled and total > MOST:
        events = events.filter(state=EventState.State.PARKED)
    found = [kept(event) for event in events.select_related("event", "decision__amendment")[: MOST + 1]]
    shown, steps = found[:MOST], step_states(quarantine)
    head = next((event.pk for event in shown if event.state == EventState.State.PARKED), None) if after < 0 else None
    return Track(
        cars=list(_cars(shown, head, steps)),
        gaps=_gaps(quarantine, shown),
        settled=0 if settled or total <= MOST else quarantine.settled,
        more=shown[-1].position if len(found) > MOST else None,
    )


def step_states(quarantine: Quarantine) -> dict[int, str]:
    """What the living replay of this key is doing with each event, by event id."""
    living = quarantine.replays.living().first()
    rows = Step.objects.filter(replay=living) if living else Step.objects.none()
    return dict(rows.values_list("event_state_id", "state"))


def _cars(events: list[EventState], head: int | None, steps: dict[int, str]) -> Iterator[Car]:
    waiting = False  # whether an unsettled event stands before this one
    for event in events:
        parked = event.state == EventState.State.PARKED
        mark, word = _sign(event, steps.get(event.pk, ""))
        yield Car(event, mark, word, event.pk == head, waiting and not parked, label(event))
        waiting = waiting or parked


def _sign(event: EventState, step: str) -> tuple[str, str]:
    if event.state == EventState.State.APPLIED:
        return "settled", "applied"
    if event.state == EventState.State.SKIPPED:
        return "skipped", "skipped"
    if step == Step.State.IN_FLIGHT:
        return "moving", "in flight"
    if step == Step.State.UNCONFIRMED:
        return "warning", "unconfirmed"
    return event.kind, event.kind


def label(event: EventState) -> str:
    """The chip of an event's decision: `amend v2`, `skip`, `apply`, or `decide` where one that needs it has none."""
    decision = getattr(event, "decision", None)
    if decision is None:
        return "decide" if event.kind == EventState.Kind.POISON or event.event.not_original else "apply"
    return f"amend v{decision.amendment.version}" if decision.amendment else str(decision.action)


def _gaps(quarantine: Quarantine, events: list[EventState]) -> dict[int | None, list[Missing]]:
    """Missing events before the first event with a higher position; without a position, before the first of all."""
    gaps: dict[int | None, list[Missing]] = {}
    for one in _missing(quarantine, events):
        at = next((event.pk for event in events if one.position is None or (event.position or 0) > one.position), None)
        gaps.setdefault(at, []).append(one)
    return gaps


def _missing(quarantine: Quarantine, events: list[EventState]) -> list[Missing]:
    if quarantine.state == Quarantine.State.RELEASED:
        return []
    told = Outcome.objects.filter(flow=quarantine.flow_id, hold_key_digest=quarantine.hold_key.digest)
    evidence = told.filter(outcome__in=["still-held", "out-of-order", "released"]).order_by("-id")
    latest: list[dict[str, object] | None] = []
    for outcome, said in evidence.values_list("outcome", "evidence")[:OUTCOMES]:
        if outcome == "released":  # what was told before the key was opened is over
            break
        latest.append(said)
    blockers = {event.event.blocked_by for event in events if REPLACED not in event.event.blocked_by}
    named = missing(latest, blockers, known=())
    digests = {one.digest for one in named}
    known = EventState.objects.filter(flow=quarantine.flow_id, event_digest__in=digests)
    return missing(latest, blockers, known={bytes(digest) for digest in known.values_list("event_digest", flat=True)})
