"""The main job in a browser, on real Kafka, with the real consumer kit: from a stopped key to its release."""

import pytest
from playwright.sync_api import Page, expect

from parking.attempt import ValidationError
from parking.consumer import Effect, Event, Poison
from replay.models import Replay
from tests.console import story
from tests.replay.line import Line

pytestmark = [pytest.mark.browser, pytest.mark.kafka, pytest.mark.slow]


class Disputes(Line):
    """A service that decides disputes and refuses amounts that are no integers."""

    def handler(self, event: Event) -> Effect:
        amount = event.json().get("amount_cents")
        if not isinstance(amount, int):
            raise Poison(
                "The decision did not pass validation: 1 error.",
                error_type="InvalidDecision",
                validation_errors=[ValidationError("/amount_cents", "integer", repr(amount), "send minor units")],
            )
        return super().handler(event)


@pytest.fixture
def line(transactional_db, kafka, make_topic, tmp_path):
    made = Disputes(kafka, make_topic, tmp_path)
    made.change(schema={"title": "dispute 3", "properties": {"amount_cents": {"type": "integer"}}})
    yield made
    made.close()


def sign_in(page: Page, name: str) -> None:
    page.goto("/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(story.PASSWORD)
    page.get_by_role("button", name="Sign in to").click()


def test_from_a_stopped_key_to_its_release(line, open_page):
    typed = (("event-type", b"ChargeDisputed"),)
    line.deliver("dsp-1", b'{"amount_cents": "1200.00", "ledger_seq": 9007199254740993123}', headers=typed)
    line.deliver("dsp-2", b'{"amount_cents": 5}', headers=(("event-type", b"EvidenceAdded"),))
    line.park_all()
    story.person("oncall", "on-call engineer", operator=line.flow)
    story.person("reviewer", "second reviewer", reviewer=line.flow)

    oncall = open_page()
    sign_in(oncall, "oncall")
    pages = oncall.get_by_role("navigation", name="Pages")
    pages.get_by_role("link", name="Keys").click()
    oncall.get_by_role("link", name="acct-1").click()
    expect(oncall.get_by_role("heading", level=1)).to_contain_text("Key acct-1")
    errors = oncall.get_by_role("region", name="Validation errors")
    expect(errors).to_contain_text("/amount_cents")
    expect(errors).to_contain_text("send minor units")
    expect(oncall.locator(".is-wrong")).to_contain_text("expected integer")

    oncall.get_by_role("link", name="Amend ChargeDisputed").click()
    editor = oncall.locator("#value")
    expect(editor).to_have_value('{"amount_cents": "1200.00", "ledger_seq": 9007199254740993123}')
    editor.fill('{"amount_cents": "120000", "ledger_seq": 9007199254740993123}')
    expect(oncall.locator("#beside")).to_contain_text("1 error")
    editor.fill('{"amount_cents": 120000, "ledger_seq": 9007199254740993123}')
    expect(oncall.locator("#beside")).to_contain_text("Valid against dispute 3")
    oncall.get_by_label("What is changed and why").fill("minor units")
    oncall.get_by_role("button", name="Save as v2").click()

    oncall.get_by_role("link", name="Request replay of 2 events").click()
    oncall.get_by_label("Your reason").fill("amount corrected from the case file")
    oncall.get_by_role("button", name="Request replay of 2 events").click()
    expect(oncall.get_by_text("You asked for this replay: another person has to approve it.")).to_be_visible()
    expect(oncall.get_by_role("button", name="Approve")).to_have_count(0)

    reviewer = open_page()
    sign_in(reviewer, "reviewer")
    reviewer.get_by_role("navigation", name="Pages").get_by_role("link", name="Replays").click()
    expect(reviewer.get_by_role("heading", name="Waiting for you")).to_be_visible()
    reviewer.locator("[data-row]").first.click()
    expect(reviewer.locator(".difference")).to_contain_text('"amount_cents": 120000')
    reviewer.get_by_label("Your reason").fill("checked against the ledger")
    reviewer.get_by_role("button", name="Approve replay of 2 events").click()
    expect(reviewer.locator("#stepper [aria-current]")).to_contain_text("Replaying")

    ended = line.play(Replay.objects.get())
    assert ended.state == "completed", ended.stop_reason
    for page in (oncall, reviewer):
        expect(page.locator("#stepper .is-done")).to_have_count(5)
        expect(page.locator("#live")).to_contain_text("the consumer confirmed the release")
    assert [value for _, value in line.effects()] == [
        b'{"amount_cents": 120000, "ledger_seq": 9007199254740993123}',
        b'{"amount_cents": 5}',
    ]
    oncall.goto(f"/keys/{line.quarantine().pk}")
    expect(oncall.locator("#stepper .is-done")).to_have_count(5)
    expect(oncall.get_by_role("heading", level=2, name="What went back")).to_be_visible()
