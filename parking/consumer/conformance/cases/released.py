"""Release markers: the consumer opens the key itself, when nothing of it is held."""

from parking.consumer.conformance.cases.quarantine import quarantined
from parking.consumer.conformance.contract import GOOD
from parking.consumer.conformance.line import Line, Violation, same
from parking.wire import names


def a_key_opens_when_nothing_is_held(line: Line) -> None:
    """Behind the last event the marker releases the key: later events take effect, and the position is above all."""
    key, events = quarantined(line, held=1)
    token = line.token()
    line.command(line.apply(events[0], token, value=GOOD))
    line.command(line.apply(events[1], token))
    line.command(line.release(key, token))
    released = line.answered(token, names.RELEASED)
    if (released.position or 0) <= events[1].position:
        raise Violation(
            f"{names.POSITION} on released: expected more than {events[1].position}, found {released.position}"
        )
    live = line.name("e")
    line.event(key, live)
    line.took_effect(live)
    line.effects_are(key, [*(event.event_id for event in events), live])


def a_marker_sent_again_is_answered_again(line: Line) -> None:
    """The same marker again is answered `released`, with the same position, although the key may be open long since."""
    key, events = quarantined(line, held=0)
    token = line.token()
    line.command(line.skip(events[0], token))
    for _ in range(2):
        line.command(line.release(key, token))
    second = line.answered(token, names.RELEASED, times=2)
    same(names.POSITION, line.answered(token, names.RELEASED).position, second.position)


def what_is_still_held_keeps_the_key_closed(line: Line) -> None:
    """A marker with something held behind it is answered `still-held` with the count and the events; nothing opens."""
    key, events = quarantined(line, held=3)
    token = line.token()
    line.command(line.skip(events[0], token))
    line.command(line.release(key, token))
    answer = line.answered(token, names.STILL_HELD)
    same("held_count", 3, answer.held_count)
    same("still_held", [event.event_id for event in events[1:]], [held.event_id for held in answer.still_held])
    for event in events[1:]:
        line.command(line.apply(event, token))
    line.command(line.release(key, token))
    line.released(token)
    line.effects_are(key, [event.event_id for event in events[1:]])


def a_key_can_be_quarantined_again(line: Line) -> None:
    """After a release a new failure quarantines the key anew, further on; the old marker, sent again, opens nothing."""
    key, events = quarantined(line, held=0)
    token, later = line.token(), line.token()
    line.command(line.skip(events[0], token))
    line.command(line.release(key, token))
    released = line.answered(token, names.RELEASED)
    again, behind = line.name("e"), line.name("e")
    line.event(key, again, fail=True)
    line.event(key, behind)
    poison = line.announced(again, names.POISON).reads
    line.announced(behind, names.HELD)
    if (poison.position or 0) < (released.position or 0):
        raise Violation(f"{again}: expected a position of at least {released.position}, found {poison.position}")
    line.command(line.release(key, token))
    line.answered(token, names.RELEASED, times=2)
    line.has_no_effect(key)
    line.command(line.release(key, later))
    same("held_count", 2, line.answered(later, names.STILL_HELD).held_count)


def an_older_marker_is_fenced(line: Line) -> None:
    """A marker under a token below the floor is answered `fenced`."""
    key, events = quarantined(line, held=1)
    older, newer = line.token(), line.token()
    line.command(line.skip(events[0], newer))
    line.answered(newer, names.SKIPPED, events[0].event_id)
    line.command(line.release(key, older))
    line.answered(older, names.FENCED)


CASES = (
    a_key_opens_when_nothing_is_held,
    a_marker_sent_again_is_answered_again,
    what_is_still_held_keeps_the_key_closed,
    a_key_can_be_quarantined_again,
    an_older_marker_is_fenced,
)
