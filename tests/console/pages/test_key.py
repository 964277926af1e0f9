"""One key: its queue, its events, its decisions, its journal."""

import html

import pytest

from console.pages.track import track
from parking.models import Decision, EventState, JournalEntry
from tests.console import story


def page(client, address: str) -> str:
    return html.unescape(client.get(address).content.decode())


def decide(client, event, **given):
    return client.post(f"/events/{event.pk}/decision", {"seen": "", "reason": "", **given})


def test_the_queue_stands_head_first_with_the_gap_where_it_is(scene):
    drawn = track(scene.key)
    kinds = ["gap" if isinstance(piece, list) else piece.event.event.event_type for _, piece in drawn.pieces]
    assert kinds == [
        "ChargeDisputed", "EvidenceAdded", "EvidenceAdded", "LimitChanged", "gap",
        "RefundRequested", "RefundRequested", "AccountClosed",
    ]  # fmt: skip
    assert [car.head for car in drawn.cars] == [True] + [False] * 6
    assert "an event that the consumer holds has not arrived yet" in page(
        scene.client(scene.oncall), f"/keys/{scene.key.pk}"
    )


def test_the_gap_closes_when_the_event_arrives(scene):
    scene.lot.take(
        [
            scene.lot.announce(
                "held", "acc-20417-8", key=b"acc-20417", ago=11_100, position=story.ms(11_119), offset=88_205
            )
        ]
    )
    assert not track(scene.key).gaps


def test_what_was_settled_before_its_turn_is_drawn_as_a_leak(scene):
    third = story.event_of(scene.key, 3)
    scene.lot.take([_applied(scene, third)])
    assert [car.event.pk for car in track(scene.key).cars if car.leak] == [third.pk]
    assert "before its turn" in page(scene.client(scene.oncall), f"/keys/{scene.key.pk}")


def _applied(scene, event):
    from parking.wire import Outcome, outcome

    fact = Outcome(
        outcome="applied", flow="disputes", hold_key=b"acc-20417", event_id=event.event.event_id,
        position=event.position, token=7, fate_token=7, fingerprint=bytes(event.event.fingerprint),
    )  # fmt: skip
    return outcome.encode(fact), 1.0


def test_a_long_queue_is_shown_in_pages_from_the_head(scene):
    key = story.simple_key(scene.lot, b"long", ago=9_000, error=("Broken", "b"), held=140)
    first = track(key)
    assert len(first.cars) == 100
    assert first.more is not None
    rest = track(key, after=first.more)
    assert len(rest.cars) == 41
    assert not any(car.head for car in rest.cars)
    assert "The next events behind these" in page(scene.client(scene.oncall), f"/keys/{key.pk}")


def test_the_one_primary_action_follows_the_life_of_the_key(scene):
    client = scene.client(scene.oncall)
    assert "Decide 2 poison events" in page(client, f"/keys/{scene.key.pk}")
    scene.decide_all()
    assert "Request replay of 7 events" in page(client, f"/keys/{scene.key.pk}")
    replay = scene.request()
    assert "See the request" in page(client, f"/keys/{scene.key.pk}")
    assert "Review the replay that waits" in page(scene.client(scene.reviewer), f"/keys/{scene.key.pk}")
    story.started(replay, scene.reviewer)
    body = page(client, f"/keys/{scene.key.pk}")
    assert "Watch the replay" in body
    assert body.count("is-primary") == 1
    assert "its plan is frozen" in body


def test_the_guarantee_of_the_flow_is_said(scene):
    client = scene.client(scene.oncall)
    assert "Gated consumer." in page(client, f"/keys/{scene.key.pk}")
    scene.disputes.target = "plain"
    scene.disputes.save()
    body = page(client, f"/keys/{scene.key.pk}")
    assert "No gate." in body
    assert "Gated consumer." not in body


@pytest.mark.parametrize("action", ["apply", "skip"])
def test_a_decision_is_written_and_told_in_the_journal(scene, action):
    fourth = story.event_of(scene.key, 4)
    response = decide(scene.client(scene.oncall), fourth, action=action, reason="superseded")
    assert response.headers["Location"] == f"/keys/{scene.key.pk}?event={fourth.pk}"
    assert Decision.objects.get(event_state=fourth).action == action
    body = page(scene.client(scene.reviewer), f"/keys/{scene.key.pk}")
    assert f"on-call engineer</bdi> decided <strong>{action}</strong> for" in body
    assert "superseded" in body


def test_skipping_needs_a_reason_and_loses_nothing(scene):
    fourth = story.event_of(scene.key, 4)
    response = decide(scene.client(scene.oncall), fourth, action="skip", reason=" ")
    assert response.status_code == 422
    assert "A reason is needed" in response.content.decode()
    assert not Decision.objects.exists()


def test_somebody_elses_decision_meanwhile_is_said_and_the_typed_reason_stays(scene):
    fourth = story.event_of(scene.key, 4)
    decide(scene.client(scene.owner), fourth, action="skip", reason="mine")
    response = decide(scene.client(scene.oncall), fourth, action="apply", reason="I typed this")
    body = html.unescape(response.content.decode())
    assert response.status_code == 409
    assert "flow owner decided skip" in body
    assert "I typed this</textarea>" in body
    assert Decision.objects.get(event_state=fourth).action == "skip"


@pytest.mark.parametrize("who", ["viewer", "reviewer"])
def test_who_may_not_decide(scene, who):
    fourth = story.event_of(scene.key, 4)
    client = scene.client(getattr(scene, who))
    assert decide(client, fourth, action="skip", reason="x").status_code == 403
    assert "Skip LimitChanged" not in page(client, f"/keys/{scene.key.pk}?event={fourth.pk}")
    assert not Decision.objects.exists()


@pytest.mark.parametrize("action", ["", "delete", "amend", "amend 999999", "amend x"])
def test_an_action_that_is_none_is_refused(scene, action):
    assert decide(scene.client(scene.oncall), story.event_of(scene.key, 1), action=action).status_code == 422
    assert not Decision.objects.exists()


def test_an_earlier_amendment_can_be_used_again(scene):
    scene.decide_all()
    head = EventState.objects.select_related("decision").get(pk=story.event_of(scene.key, 1).pk)
    client = scene.client(scene.oncall)
    seen = head.decision.at.isoformat()
    decide(client, head, action="apply", seen=seen)
    assert "Use amendment v2" in page(client, f"/keys/{scene.key.pk}?event={head.pk}")
    seen = Decision.objects.get(event_state=head).at.isoformat()
    amendment = head.amendments.get()
    assert decide(client, head, action=f"amend {amendment.pk}", seen=seen).status_code == 302
    assert Decision.objects.get(event_state=head).amendment == amendment


def test_a_record_in_no_key_has_nothing_to_decide(scene):
    from parking.wire import Wire

    scene.lot.take([(Wire(b"k\x00", b"\x00 what is this \xff", (("x", None),)), 60.0)])
    strange = EventState.objects.get(flow=scene.disputes, kind="unattributed")
    client = scene.client(scene.oncall)
    assert decide(client, strange, action="skip", reason="x").headers["Location"] == f"/events/{strange.pk}"
    assert client.get(f"/events/{strange.pk}/amend").status_code == 409
    listed = page(client, "/unattributed")
    assert "disputes.parking / P0 / 8" in listed
    assert "1 record in no key" in page(client, "/keys")
    assert client.get(f"/events/{strange.pk}?tab=hex").status_code == 200


def test_the_page_says_that_the_key_has_changed(scene):
    client = scene.client(scene.oncall)
    body = page(client, f"/keys/{scene.key.pk}")
    have = body.split("?have=")[1].split('"')[0]
    assert "has changed" not in page(client, f"/keys/{scene.key.pk}?have={have}")
    decide(scene.client(scene.owner), story.event_of(scene.key, 4), action="skip", reason="x")
    assert "this key has changed" in page(client, f"/keys/{scene.key.pk}?have={have}")


def test_looks_are_counted_and_shown_on_request(scene):
    client = scene.client(scene.oncall)
    client.get(f"/keys/{scene.key.pk}")
    assert "1 look at payloads" in page(client, f"/keys/{scene.key.pk}")
    assert "looked at the payload" in page(client, f"/keys/{scene.key.pk}?journal=all")
    assert JournalEntry.objects.filter(verb="look").count() == 1


@pytest.mark.parametrize(
    "query", ["?event=x", "?event=99999999999999999999", "?after=-5", "?after=x", "?view=nonsense"]
)
def test_an_address_that_makes_no_sense_shows_the_key(scene, query):
    assert "acc-20417" in page(scene.client(scene.oncall), f"/keys/{scene.key.pk}{query}")
