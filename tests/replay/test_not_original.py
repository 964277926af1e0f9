"""What would not be sent with its original bytes is never sent unasked."""

import pytest

from parking.errors import Refused
from parking.models import EventState, ParkedEvent, Quarantine
from replay import decide, plan
from replay.targets import content
from tests.replay.line import ANNE

WHY = "Its producer wrote the value anew."


@pytest.fixture
def anew(line):
    """A poison event, e1, that is decided, and a held one, e2, whose bytes are not the original ones."""
    line.park("e1", "e2")
    line.decide("e1", "apply")
    ParkedEvent.objects.filter(pk=line.event("e2").pk).update(not_original=WHY)
    return line


def say(line, action, **changes):
    given = {"reason": "", "actor": ANNE, **changes}
    return decide.decide(event_state_id=line.event("e2").pk, action=action, **given)


def test_a_held_event_needs_a_decision_of_its_own(anew):
    assert anew.event("e2").kind == "held"
    quarantine = Quarantine.objects.get()
    assert [e.pk for e in EventState.objects.unsettled(quarantine).undecided()] == [anew.event("e2").pk]
    with pytest.raises(Refused, match=r"1 event has no decision yet: e2"):
        plan.build(quarantine)
    say(anew, "apply", reason="the consumer compares as JSON")
    assert [step.action for step in plan.build(quarantine).steps] == ["apply", "apply"]


def test_whoever_applies_it_says_why(anew):
    with pytest.raises(Refused, match=r"not, or may not be, what the consumer had been given.*wrote the value anew"):
        say(anew, "apply")
    assert say(anew, "skip", reason="not needed").action == "skip"


def test_what_was_not_fetched_cannot_be_planned(anew):
    ParkedEvent.objects.filter(pk=anew.event("e2").pk).update(fingerprint=b"")
    say(anew, "apply", reason="all the same")
    with pytest.raises(Refused, match="still to be fetched"):
        list(content.checked(plan.build(Quarantine.objects.get()).steps))
