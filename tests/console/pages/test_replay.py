"""Asking for a replay, approving it as another person, and following it."""

import html
import json
import re
from datetime import timedelta

import pgtrigger
import pytest
from django.utils import timezone

from parking.models import EventPayload, Flow, JournalEntry, ParkedEvent
from replay.models import Replay
from tests.console import story


def page(client, address: str) -> str:
    return html.unescape(client.get(address).content.decode())


def plan_word(client, key):
    body = page(client, f"/keys/{key.pk}/replays")
    return re.findall(r'name="plan" value="(follow [0-9a-f]{64})"', body)[0]


def ask(scene, client=None, **changes):
    client = client or scene.client(scene.oncall)
    given = {"plan": plan_word(client, scene.key), "reason": "fixed", **changes}
    return client.post(f"/keys/{scene.key.pk}/replays", given)


def approval(replay: Replay, **changes) -> dict[str, str]:
    return {"digest": bytes(replay.digest).hex(), "reason": "checked", **changes}


@pytest.fixture
def waiting(scene):
    scene.decide_all()
    return scene.request()


def test_the_plan_is_shown_before_it_is_asked_for(scene):
    scene.decide_all()
    body = page(scene.client(scene.oncall), f"/keys/{scene.key.pk}/replays")
    assert "Request replay of 7 events" in body
    assert "amend v2" in body
    assert "superseded by 88 301" in body
    assert "ChargeDisputed is amended." in body
    assert "amount_cents, reason" in body
    assert "cannot be taken back" in body.replace("\n", " ")


def test_after_a_restore_the_key_is_asked_to_be_held_again(scene):
    """No decisions are needed: nothing takes effect."""
    client = scene.client(scene.oncall)
    address = f"/keys/{scene.key.pk}/replays"
    assert "Hold the key again" in page(client, address)
    body = page(client, f"{address}?plan=hold")
    words = re.findall(r'name="plan" value="(hold [0-9a-f]{64})"', body)
    assert re.search(r"Request holding \d+ events again", body)
    response = client.post(f"{address}?plan=hold", {"plan": words[0], "reason": "restored"})
    made = Replay.objects.get()
    assert response.headers["Location"] == f"/replays/{made.pk}"
    assert made.repair
    assert set(made.steps.values_list("action", flat=True)) == {"hold"}
    assert "hold" in page(client, f"/replays/{made.pk}")


def test_asking_makes_a_request_and_leads_to_it(scene):
    scene.decide_all()
    response = ask(scene)
    made = Replay.objects.get()
    assert response.headers["Location"] == f"/replays/{made.pk}"
    assert (made.state, made.reason, made.requested_by_id) == ("requested", "fixed", f"user:{scene.oncall.pk}")


def test_undecided_poison_is_said_instead_of_a_plan(scene):
    body = page(scene.client(scene.oncall), f"/keys/{scene.key.pk}/replays")
    assert "2 poison events have no decision yet" in body
    assert "Request replay" not in body


def test_a_plan_that_changed_meanwhile_is_not_asked_for_and_the_reason_stays(scene):
    scene.decide_all()
    client = scene.client(scene.oncall)
    word = plan_word(client, scene.key)
    held = story.event_of(scene.key, 2)
    client.post(f"/events/{held.pk}/decision", {"action": "skip", "reason": "not needed"})
    response = ask(scene, client, plan=word, reason="my long reason")
    assert response.status_code == 409
    assert "The plan has changed" in html.unescape(response.content.decode())
    assert "my long reason" in response.content.decode()
    assert not Replay.objects.exists()


@pytest.mark.parametrize("word", ["", "follow zz", "follow", "nonsense " + "0" * 64])
def test_a_request_without_the_shown_digest_is_refused(scene, word):
    scene.decide_all()
    assert ask(scene, plan=word).status_code == 409
    assert not Replay.objects.exists()


@pytest.mark.parametrize("who", ["viewer", "reviewer"])
def test_who_may_not_ask(scene, who):
    scene.decide_all()
    client = scene.client(getattr(scene, who))
    assert client.get(f"/keys/{scene.key.pk}/replays").status_code == 403
    assert client.post(f"/keys/{scene.key.pk}/replays", {"reason": "x"}).status_code == 403
    assert "Request replay" not in page(client, f"/keys/{scene.key.pk}")


def test_another_person_approves_with_a_reason_of_their_own(scene, waiting):
    client = scene.client(scene.reviewer)
    body = page(client, f"/replays/{waiting.pk}")
    assert "Approve replay of 7 events" in body
    assert "waits for you" in body
    assert "Withdraw" not in body  # whoever may reject does not withdraw
    assert 'Valid against <bdi class="foreign">dispute-decision 14' in body
    response = client.post(f"/replays/{waiting.pk}/approve", approval(waiting))
    assert response.status_code == 302
    waiting.refresh_from_db()
    assert (waiting.state, waiting.decided_by_id, waiting.decision_reason) == (
        "approved", f"user:{scene.reviewer.pk}", "checked",
    )  # fmt: skip


def test_self_approval_is_offered_on_no_page_and_refused_by_direct_post(scene):
    scene.decide_all()
    waiting = scene.request(scene.owner)
    client = scene.client(scene.owner)
    body = page(client, f"/replays/{waiting.pk}")
    assert "Approve replay" not in body
    assert "You asked for this replay" in body
    response = client.post(f"/replays/{waiting.pk}/approve", approval(waiting))
    assert response.status_code == 422
    waiting.refresh_from_db()
    assert waiting.state == "requested"


def test_who_wrote_the_amendment_may_not_approve_it_either(scene):
    story.decided(scene.key, scene.owner)
    waiting = scene.request()
    client = scene.client(scene.owner)
    assert "You wrote a decision" in page(client, f"/replays/{waiting.pk}")
    assert client.post(f"/replays/{waiting.pk}/approve", approval(waiting)).status_code == 422
    waiting.refresh_from_db()
    assert waiting.state == "requested"


@pytest.mark.parametrize("who", ["viewer", "oncall"])
@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_without_the_permission_nobody_decides(scene, waiting, who, verb):
    response = scene.client(getattr(scene, who)).post(f"/replays/{waiting.pk}/{verb}", approval(waiting))
    assert response.status_code == 403
    waiting.refresh_from_db()
    assert waiting.state == "requested"


def test_approving_without_a_reason_is_refused(scene, waiting):
    response = scene.client(scene.reviewer).post(f"/replays/{waiting.pk}/approve", approval(waiting, reason="  "))
    assert response.status_code == 422
    assert "A reason is needed" in response.content.decode()


@pytest.mark.parametrize("digest", ["", "00", "zz", "0" * 64])
def test_approving_another_plan_than_the_one_shown_is_refused_and_keeps_the_reason(scene, waiting, digest):
    response = scene.client(scene.reviewer).post(f"/replays/{waiting.pk}/approve", approval(waiting, digest=digest))
    assert response.status_code == 409
    assert ">checked</textarea>" in response.content.decode()


def test_a_plan_that_changed_after_the_request_cannot_be_approved_and_says_so(scene, waiting):
    held = story.event_of(scene.key, 3)
    scene.client(scene.owner).post(f"/events/{held.pk}/decision", {"action": "skip", "reason": "late thought"})
    client = scene.client(scene.reviewer)
    body = page(client, f"/replays/{waiting.pk}")
    assert "The plan has changed." in body
    assert "Approve replay" not in body
    assert client.post(f"/replays/{waiting.pk}/approve", approval(waiting)).status_code == 409


def test_an_event_older_than_the_targets_memory_needs_a_second_confirmation(scene, waiting):
    ParkedEvent.objects.filter(event_state__quarantine=scene.key).update(parked_at=timezone.now() - timedelta(days=90))
    client = scene.client(scene.reviewer)
    assert "older than the target's memory" in page(client, f"/replays/{waiting.pk}")
    address = f"/replays/{waiting.pk}/approve"
    assert client.post(address, approval(waiting)).status_code == 422
    assert client.post(address, approval(waiting, memory_confirmed="on")).status_code == 302


def test_the_first_decision_counts_and_the_second_person_is_told_who_was_faster(scene, waiting):
    scene.client(scene.reviewer).post(f"/replays/{waiting.pk}/reject", {"reason": "wrong account"})
    response = scene.client(scene.owner).post(f"/replays/{waiting.pk}/approve", approval(waiting))
    body = html.unescape(response.content.decode())
    assert response.status_code == 409
    assert "rejected, decided by second reviewer" in body


def test_withdrawing_stops_it_and_the_key_can_be_asked_for_again(scene, waiting):
    client = scene.client(scene.oncall)
    assert client.post(f"/replays/{waiting.pk}/cancel", {"reason": ""}).status_code == 422
    assert client.post(f"/replays/{waiting.pk}/cancel", {"reason": "too early"}).status_code == 302
    waiting.refresh_from_db()
    assert waiting.state == "cancelled"
    assert ask(scene, client).status_code == 302


def test_a_running_replay_is_paused_resumed_and_stopped(scene, waiting):
    running = story.started(waiting, scene.reviewer)
    client = scene.client(scene.oncall)
    assert "Pause after what is in flight" in page(client, f"/replays/{running.pk}")
    for verb, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelling")):
        assert client.post(f"/replays/{running.pk}/{verb}", {"reason": "because"}).status_code == 302
        running.refresh_from_db()
        assert running.state == state
    told = list(JournalEntry.objects.filter(replay_id=running.pk).order_by("id").values_list("verb", flat=True))
    assert told[-3:] == ["pause", "resume", "cancel"]


def test_the_live_part_moves_and_sends_buttons_only_when_they_change(scene, waiting):
    running = story.started(waiting, scene.reviewer)
    story.sent(running, 1, 3)
    story.answered(scene.lot, running, 2)
    client = scene.client(scene.oncall)
    same, changed = (page(client, f"/replays/{running.pk}?was={state}") for state in ("running", "requested"))
    assert "<html" not in same
    assert "2 of 7 done" in same
    assert 'id="decide"' not in same
    assert "Pause after" in changed
    assert 'hx-trigger="every 1s"' in same


def test_what_has_ended_is_not_asked_for_again(scene, waiting):
    done = story.started(waiting, scene.reviewer)
    story.sent(done, 1, 7)
    story.answered(scene.lot, done, 7)
    story.completed(scene.lot, done)
    body = page(scene.client(scene.oncall), f"/replays/{done.pk}")
    assert "every 1s" not in body
    assert "the consumer confirmed the release" in body
    assert page(scene.client(scene.oncall), f"/keys/{scene.key.pk}").count("is-done") == 5


def test_what_retention_dropped_is_named_on_the_pages_of_old_replays(scene, waiting):
    done = story.started(waiting, scene.reviewer)
    story.sent(done, 1, 7)
    story.answered(scene.lot, done, 7)
    story.completed(scene.lot, done)
    with pgtrigger.ignore(*(f"{model._meta.label}:{one.name}" for model, one in pgtrigger.registered())):
        EventPayload.objects.all().delete()
        ParkedEvent.objects.all().delete()
    head = story.event_of(scene.key, 1)
    client = scene.client(scene.oncall)
    for address in (f"/replays/{done.pk}", f"/keys/{scene.key.pk}", f"/events/{head.pk}", f"/replays/{done.pk}/report"):
        response = client.get(address)
        assert response.status_code == 200, address
        assert "removed by retention" in response.content.decode(), address


def test_a_stopped_replay_says_where_and_leads_back(scene, waiting):
    stopped = story.started(waiting, scene.reviewer)
    story.sent(stopped, 1, 2)
    story.answered(scene.lot, stopped, 1)
    story.stopped(stopped, 2, "Step 2 is failed: InvalidDecision.")
    body = page(scene.client(scene.oncall), f"/replays/{stopped.pk}")
    assert "Stopped at step 2 of 7." in body
    assert "The last replay stopped at step 2 of 7." in page(scene.client(scene.oncall), f"/keys/{scene.key.pk}")


def test_the_report_holds_every_step_and_no_payload(scene, waiting):
    response = scene.client(scene.viewer).get(f"/replays/{waiting.pk}/report")
    told = json.loads(response.content)
    assert [step["action"] for step in told["steps"]] == ["amend", "apply", "apply", "skip", "apply", "apply", "apply"]
    assert told["digest"] == bytes(waiting.digest).hex()
    assert "dsp-7731" not in response.content.decode()


def test_the_list_sorts_by_what_is_to_be_done(scene, waiting):
    body = page(scene.client(scene.reviewer), "/replays")
    assert body.index("Waiting for you") < body.index("History")
    assert "Waiting for you" not in page(scene.client(scene.oncall), "/replays")
    assert "Waiting for others" in page(scene.client(scene.oncall), "/replays")


def test_who_may_not_see_payloads_is_not_told_what_was_amended(scene, waiting):
    body = page(scene.client(scene.viewer), f"/replays/{waiting.pk}")
    assert "What it changes is masked for you." in body
    for hidden in ("amount_cents", "120000", "not_received", "dsp-7731"):
        assert hidden not in body
    assert not JournalEntry.objects.filter(verb="look", actor_id=f"user:{scene.viewer.pk}").exists()


def test_without_a_gate_the_plan_says_what_is_not_guaranteed(scene, replay_topic):
    scene.decide_all()
    Flow.objects.filter(pk=scene.disputes.pk).update(target="plain", target_topic=replay_topic)
    body = page(scene.client(scene.oncall), f"/keys/{scene.key.pk}/replays")
    assert "No gate." in body
    assert "may take effect twice" in body
    assert "order among these events only" in body
    assert "each once" not in body
    assert replay_topic in body


def test_a_long_run_of_held_events_is_folded_and_can_be_seen_whole(scene):
    key = story.simple_key(scene.lot, b"long", ago=9_000, error=("Broken", "b"), held=40, kind="Thing")
    scene.client(scene.oncall).post(f"/events/{story.event_of(key, 1).pk}/decision", {"action": "apply"})
    client = scene.client(scene.oncall)
    folded, whole = (page(client, f"/keys/{key.pk}/replays{query}") for query in ("", "?steps=all"))
    assert "5–41" in folded
    assert "Show all 41 events one by one" in folded
    assert whole.count("data-row") == 41
