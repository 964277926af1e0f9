"""Replay records: only the first held event may act, once, and a failure ends the replay."""

from dataclasses import replace

from parking.consumer.conformance.cases.quarantine import quarantined
from parking.consumer.conformance.contract import GOOD
from parking.consumer.conformance.line import Line, Violation, same
from parking.wire import Announcement, names


def a_key_is_replayed_in_order(line: Line) -> None:
    """Events are applied in order, an amended one with the bytes that were sent, and the facts say so."""
    key, events = quarantined(line, held=3)
    token = line.token()
    commands = [line.apply(events[0], token, value=GOOD), *(line.apply(event, token) for event in events[1:])]
    for command in commands:
        line.command(command)
    for command in commands:
        fact = line.answered(token, names.APPLIED, command.event_id)
        same(f"{names.FINGERPRINT} of {command.event_id}", command.fingerprint, fact.fingerprint)
        same(f"{names.FATE_TOKEN} of {command.event_id}", token, fact.fate_token)
    line.took_effect(events[-1].event_id)
    line.effects_are(key, [event.event_id for event in events])
    same("value that was applied", GOOD, line.took_effect(events[0].event_id).value)


def a_record_sent_again_is_answered_again(line: Line) -> None:
    """A step that is sent again has no second effect and is answered by the fact; so it is under a later token."""
    key, events = quarantined(line, held=1)
    token, later = line.token(), line.token()
    for _ in range(2):
        line.command(line.apply(events[0], token, value=GOOD))
    line.answered(token, names.APPLIED, events[0].event_id, times=2)
    line.command(line.apply(events[0], later, value=GOOD))
    same(names.FATE_TOKEN, token, line.answered(later, names.APPLIED, events[0].event_id).fate_token)
    line.effects_are(key, [events[0].event_id])


def a_skipped_event_never_comes_back(line: Line) -> None:
    """`skip` is a fact with the source's fingerprint; a later `apply` is answered by it and has no effect."""
    key, events = quarantined(line, held=1)
    token, later = line.token(), line.token()
    line.command(line.skip(events[0], token))
    fact = line.answered(token, names.SKIPPED, events[0].event_id)
    same(names.FINGERPRINT, events[0].fingerprint, fact.fingerprint)
    line.command(line.apply(events[0], later, value=GOOD))
    line.answered(later, names.SKIPPED, events[0].event_id)
    line.has_no_effect(key)


def only_the_first_held_event_may_act(line: Line) -> None:
    """Another one is answered `out-of-order`, naming the first, and does nothing."""
    key, events = quarantined(line, held=2)
    token = line.token()
    line.command(line.apply(events[1], token))
    answer = line.answered(token, names.OUT_OF_ORDER, events[1].event_id)
    same("first_held", events[0].event_id, answer.first_held)
    line.has_no_effect(key)


def a_failure_ends_the_replay(line: Line) -> None:
    """What fails again is answered `failed` with its attempts; every later record of its token is dead."""
    key, events = quarantined(line, held=2)
    token, later = line.token(), line.token()
    line.command(line.apply(events[0], token))
    failed = line.answered(token, names.FAILED, events[0].event_id)
    if not failed.attempts:
        raise Violation(f"{events[0].event_id}: expected {names.ATTEMPTS} on failed, found none")
    line.command(line.apply(events[0], token))
    line.answered(token, names.FAILED, events[0].event_id, times=2)
    line.command(line.apply(events[1], token))
    fenced = line.answered(token, names.FENCED, events[1].event_id)
    if fenced.floor is None or fenced.floor <= token:
        raise Violation(f"fenced under token {token}: expected a floor above it, found {fenced.floor}")
    line.command(line.apply(events[0], later, value=GOOD))
    line.answered(later, names.APPLIED, events[0].event_id)
    line.effects_are(key, [events[0].event_id])


def an_older_replay_is_fenced(line: Line) -> None:
    """Once a newer token has acted on a key, an older one does nothing any more."""
    key, events = quarantined(line, held=2)
    older, newer = line.token(), line.token()
    line.command(line.apply(events[0], newer, value=GOOD))
    line.answered(newer, names.APPLIED, events[0].event_id)
    line.command(line.apply(events[1], older))
    line.answered(older, names.FENCED, events[1].event_id)
    line.effects_are(key, [events[0].event_id])


def what_is_not_held_is_not_applied(line: Line) -> None:
    """An event of which the ledger knows nothing is answered `not-held`, in a quarantined key and in another."""
    key, events = quarantined(line, held=0)
    for event in (replace(events[0], event_id=line.name("e")), _elsewhere(events[0], line)):
        token = line.token()
        line.command(line.apply(event, token, value=GOOD))
        line.answered(token, names.NOT_HELD, event.event_id)
    line.has_no_effect(key)


def an_event_can_be_held_again(line: Line) -> None:
    """A hold record holds an event of a key that is not quarantined; from then on live events of it wait behind."""
    _, (template, *_) = quarantined(line, held=0)
    event = replace(_elsewhere(template, line), position=template.position)
    key = (event.key or b"").decode()
    token = line.token()
    line.command(line.hold(event, token))
    line.answered(token, names.HELD, event.event_id)
    behind = line.name("e")
    line.event(key, behind)
    found = line.announced(behind, names.HELD).reads
    if (found.position or 0) <= event.position:
        raise Violation(f"{behind}: expected a position above {event.position}, found {found.position}")
    later = line.token()
    line.command(line.apply(event, later, value=GOOD))
    line.answered(later, names.APPLIED, event.event_id)


def _elsewhere(event: Announcement, line: Line) -> Announcement:
    """The same for another event of another key."""
    return replace(event, event_id=line.name("e"), key=line.name("k").encode())


CASES = (
    a_key_is_replayed_in_order,
    a_record_sent_again_is_answered_again,
    a_skipped_event_never_comes_back,
    only_the_first_held_event_may_act,
    a_failure_ends_the_replay,
    an_older_replay_is_fenced,
    what_is_not_held_is_not_applied,
    an_event_can_be_held_again,
)
