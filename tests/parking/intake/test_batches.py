"""However records fall into batches, and however often they are sent again, the store is the same afterwards."""

import gc
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parking.models import Attempt, EventState, HoldKey, Quarantine
from parking.wire import StillHeld
from tests.conftest import BY_LUCK

from .conftest import Lot, attempt, make_flow, make_lot

KEYS = (b"a", b"b")
NAMES = count()

event = st.integers(0, 3)
key = st.sampled_from(KEYS)
token = st.integers(1, 4)
steps = st.one_of(
    st.tuples(st.just("poison"), event, key, st.integers(1, 3)),
    st.tuples(st.just("held"), event, key),
    st.tuples(st.sampled_from(["applied", "skipped", "held!"]), event, key, token),
    st.tuples(st.just("failed"), event, key, token),
    st.tuples(st.just("released"), key, event),
    st.tuples(st.just("still-held"), event, key, token),
)


def record(lot: Lot, step):
    """The same step is the same record in both flows: an event always has its own place and key."""
    word, *rest = step
    if word == "released":
        return lot.answer("released", key=rest[0], position=10 * rest[1] + 11)
    number, at = rest[0], rest[1]
    name, position = f"{at.decode()}{number}", 10 * number + 10
    if word == "poison":
        return lot.poison(name, position, key=at, attempts=(attempt(rest[2]),))
    if word == "held":
        return lot.held(name, position, key=at)
    if word == "failed":
        return lot.answer("failed", name, key=at, token=rest[2], attempts=(attempt(9, "Late"),), floor=rest[2] + 1)
    if word == "still-held":
        named = StillHeld(name, position, "held", lot.poison(name, position).record.coordinates)
        lot.offsets[0] -= 1
        return lot.answer("still-held", key=at, token=rest[2], still_held=(named,), held_count=1)
    return lot.answer(word.rstrip("!"), name, key=at, token=rest[2], fate_token=rest[2], fingerprint=b"f" * 32)


def picture(lot: Lot):
    """Everything but ids and times."""
    quarantines = Quarantine.objects.filter(flow=lot.flow).order_by("hold_key__key", "id")
    place = {q.pk: n for n, q in enumerate(quarantines)}
    attempts = Attempt.objects.filter(event_state__flow=lot.flow)
    return (
        [
            (bytes(q.hold_key.key), q.state, q.poison, q.held, q.settled, q.last_position, q.first_error)
            for q in quarantines
        ],
        [
            (e.event.event_id, place[e.quarantine_id or 0], e.position, e.kind, e.state, e.attempt_count, e.fate_token)
            for e in EventState.objects.filter(flow=lot.flow).order_by("event__event_id")
        ],
        sorted(attempts.values_list("event_state__event__event_id", "token", "number", "error_type")),
        list(HoldKey.objects.filter(flow=lot.flow).order_by("key").values_list("highest_floor", "released_position")),
        [sum(e.state == "parked" for e in q.events.all()) == q.depth for q in quarantines],
        [
            q.oldest_at == (first.event.parked_at if (first := EventState.objects.unsettled(q).first()) else None)
            for q in quarantines
        ],
    )


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[*BY_LUCK, HealthCheck.function_scoped_fixture])
@given(st.lists(steps, min_size=1, max_size=14), st.lists(st.integers(1, 5), min_size=14, max_size=14), st.booleans())
def test_batches_do_not_matter(db, life, sizes, again):
    one, many = (make_lot(make_flow(f"{kind}-{next(NAMES)}")) for kind in ("one", "many"))
    one.store(*(record(one, step) for step in life))
    sent = [record(many, step) for step in life]
    rest = list(sent)
    for size in sizes:
        batch, rest = rest[:size], rest[size:]
        if batch:
            many.store(*batch)
    if again:
        many.rewind()
        assert many.store(*sent).records == 0
    pictured = picture(one)
    assert picture(many) == pictured
    assert all(pictured[-1])
    assert all(pictured[-2])


def test_a_batch_leaves_no_circles_for_the_collector(lot):
    """Intake lets it look seldom: what stays in a circle until then would be whole batches of payloads."""
    sent = [lot.poison(f"e{n}", n + 1, key=b"%d" % (n % 50)) for n in range(300)]
    lot.store(*sent[:10])
    gc.collect()
    gc.disable()
    try:
        lot.store(*sent[10:])
        assert gc.collect() < 100
    finally:
        gc.enable()
