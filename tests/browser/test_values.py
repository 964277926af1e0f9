"""A value by a schema registry in a browser: read, explained and amended, wide and on a phone, light and dark."""

import pytest
from playwright.sync_api import expect

from console.schemas.kept import KEPT
from parking.attempt import Attempt, ValidationError
from parking.models import Amendment
from tests.browser.faults import barriers, sideways
from tests.console import story
from tests.console.pages.test_values import DECIDED, DIGITS
from tests.registry import AVRO, SchemaRegistry

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ERROR = ValidationError("/amount_cents", "less than 1 000 000", str(DIGITS), "check the amount")


@pytest.fixture
def scene(transactional_db, kafka):
    KEPT.forget()
    with SchemaRegistry() as registry:
        registry.avro(5, AVRO)
        flow = story.make_flow("disputes", bootstrap=kafka)
        flow.cluster.settings = {"schema.registry.url": registry.url}
        flow.cluster.save()
        lot = story.Lot(flow)
        tries = (Attempt(1, 1_796_040_000_000, "AmountTooLarge", "more than anybody owes", "trace", (ERROR,)),)
        lot.take([lot.announce("poison", "dec-1", key=b"acc-1", value=DECIDED, attempts=tries)])
        lot.take([lot.announce("poison", "dec-2", key=b"acc-2", value=b"\0\0\0\0\x63\x02\x04\xff", attempts=tries)])
        events = [story.event_of(lot.quarantine(key), 1) for key in (b"acc-1", b"acc-2")]
        yield events, story.person("oncall", "on-call engineer", operator=flow)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1360, 360])
def test_the_pages_have_no_barrier_and_fit(scene, open_page, theme, width):
    (known, unknown), oncall = scene
    page = open_page(oncall, color_scheme=theme, viewport={"width": width, "height": 900})
    found = []
    addresses = (
        f"/events/{known.pk}",
        f"/events/{unknown.pk}",
        f"/events/{known.pk}/amend",
        f"/keys/{known.quarantine_id}",
    )
    for address in addresses:
        page.goto(address)
        for fold in page.locator("details.below > summary").all():
            fold.click()
        found += [f"{address}: {fault}" for fault in (*barriers(page), *sideways(page))]
    assert found == []


def test_the_json_of_an_avro_value_is_edited_and_saved_as_avro(scene, open_page):
    (known, _), oncall = scene
    page = open_page(oncall)
    page.goto(f"/events/{known.pk}/amend")
    editor = page.get_by_label("Value", exact=True)
    expect(editor).to_have_value(f'{{\n  "dispute_id": "dsp-77",\n  "amount_cents": {DIGITS},\n  "reason": "fraud"\n}}')
    editor.fill(editor.input_value().replace(str(DIGITS), '"12"'))
    expect(page.locator("#beside")).to_contain_text("/amount_cents: a whole number from")
    editor.fill(editor.input_value().replace('"12"', "12"))
    expect(page.locator("#beside")).to_contain_text("Valid against Avro, schema 5 of the registry")
    expect(page.locator("#beside")).to_contain_text(f'"amount_cents": {DIGITS}')
    page.get_by_label("What is changed and why").fill("minor units")
    page.get_by_role("button", name="Save as v2").click()
    expect(page.locator("#payload")).to_contain_text('"amount_cents": 12,')
    assert bytes(Amendment.objects.get().value or b"") == b"\0\0\0\0\x05\x0cdsp-77\x18\x02\x0afraud"
