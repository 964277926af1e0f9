"""The audit must be able to fail: each kind of damage is found and named."""

from dataclasses import replace

import pytest

from console.demo.check.audit import Effect, Parked, Sent, deviations, unfinished

# Four events of one account: the first was amended, the third skipped, the last is still parked.
SENT = [Sent((1, offset), f"evt-{offset}", b"acc-1", bytes([offset])) for offset in range(4)]
EFFECTS = [
    Effect(10, (1, 0), "evt-0", "acc-1", b"amended"),
    Effect(11, (1, 1), "evt-1", "acc-1", bytes([1])),
]
PARKED = [
    Parked((1, 0), "evt-0", "applied", frozenset([b"amended"])),
    Parked((1, 1), "evt-1", "applied"),
    Parked((1, 2), "evt-2", "skipped"),
    Parked((1, 3), "evt-3", "parked"),
]


def found(*, sent=SENT, effects=EFFECTS, parked=PARKED):
    return deviations(sent=sent, effects=effects, parked=parked)


def test_what_is_as_it_must_be_has_no_deviations():
    assert found() == []


def test_an_effect_that_happened_twice():
    assert found(effects=[*EFFECTS, replace(EFFECTS[1], number=12)]) == ["event evt-1 took effect 2 times"]


def test_an_event_that_overtook_another():
    first, second = EFFECTS
    overtaken = [replace(second, number=10), replace(first, number=11)]
    assert found(effects=overtaken) == ["acc-1: evt-1 took effect before the earlier evt-0"]


def test_other_accounts_may_overtake():
    other = [Sent((1, 9), "evt-9", b"acc-2", b"9")]
    assert found(sent=[*SENT, *other], effects=[Effect(1, (1, 9), "evt-9", "acc-2", b"9"), *EFFECTS]) == []


@pytest.mark.parametrize("tampered", [0, 1])
def test_an_effect_of_other_bytes(tampered):
    effects = list(EFFECTS)
    effects[tampered] = replace(effects[tampered], fingerprint=b"tampered")
    assert found(effects=effects) == [f"event evt-{tampered} took effect with other bytes than were sent or decided"]


def test_an_effect_that_nobody_sent():
    assert "event evt-9 took effect and was never sent" in found(
        effects=[*EFFECTS, Effect(12, (1, 9), "evt-9", "acc-1", b"9")]
    )


def test_what_the_topic_has_forgotten_is_not_held_against_anyone():
    assert found(sent=SENT[1:]) == []


def test_an_event_that_was_lost():
    assert unfinished(sent=SENT, effects=EFFECTS, parked=PARKED) == set()
    assert unfinished(sent=SENT, effects=EFFECTS, parked=PARKED[:3]) == {"evt-3"}


def test_an_effect_that_the_console_only_believes_in():
    assert found(effects=EFFECTS[:1]) == ["event evt-1 is applied in the console and has no effect"]


@pytest.mark.parametrize(("offset", "state"), [(2, "skipped"), (3, "parked")])
def test_an_effect_of_what_must_have_none(offset, state):
    effects = [*EFFECTS, Effect(12, (1, offset), f"evt-{offset}", "acc-1", bytes([offset]))]
    assert found(effects=effects) == [f"event evt-{offset} is {state} in the console and took effect"]


def test_a_redelivered_record_is_not_unfinished_but_another_of_the_same_id_is():
    again, other = replace(SENT[1], place=(1, 4)), replace(SENT[1], place=(1, 5), fingerprint=b"other")
    assert unfinished(sent=[*SENT, again], effects=EFFECTS, parked=PARKED) == set()
    assert unfinished(sent=[*SENT, again, other], effects=EFFECTS, parked=PARKED) == {"evt-1"}
