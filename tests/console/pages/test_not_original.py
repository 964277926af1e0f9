"""People are told where a replay would not send the original bytes, and are asked before."""

import pytest

from parking.models import ParkedEvent
from tests.console import story

WHY = "Its producer parsed the value and wrote it anew."


@pytest.fixture
def anew(scene):
    """The held event behind the first poison one, written anew by its producer."""
    event = story.event_of(scene.key, 2)
    ParkedEvent.objects.filter(pk=event.pk).update(not_original=WHY)
    return event


def test_the_event_s_page_says_so(scene, anew):
    page = scene.client(scene.viewer).get(f"/events/{anew.pk}").content.decode()
    assert "Not the original bytes" in page
    assert WHY in page


def test_its_key_asks_for_a_decision(scene, anew):
    scene.decide_all()
    page = scene.client(scene.oncall).get(f"/keys/{scene.key.pk}").content.decode()
    assert "Decide 1 event<" in page
    assert "2 of 3 events, held: apply" in page


def test_apply_without_a_reason_is_refused_and_says_what_is_missing(scene, anew):
    client = scene.client(scene.oncall)
    refused = client.post(f"/events/{anew.pk}/decision", {"action": "apply", "reason": ""})
    assert refused.status_code == 422
    assert "A reason is needed" in refused.content.decode()
    said = client.post(f"/events/{anew.pk}/decision", {"action": "apply", "reason": "compared, it is the same JSON"})
    assert said.status_code == 302


def test_whoever_approves_is_told(scene, anew):
    scene.decide_all()
    scene.client(scene.oncall).post(f"/events/{anew.pk}/decision", {"action": "apply", "reason": "it is the same JSON"})
    replay = scene.request()
    page = scene.client(scene.reviewer).get(f"/replays/{replay.pk}").content.decode()
    assert "1 event is not sent with the original bytes" in page
    assert WHY in page
