"""The event's page says who failed, and where first, as far as the record's dialect tells; to who may see payloads."""

from parking.wire import Wire
from tests.console import story
from tests.parking.dialects import sets

COMPONENT = "connector b task 0"


def test_what_the_dialect_tells_is_on_the_page(scene):
    flow = story.make_flow("orders", target="plain", target_topic="orders", consumer_group="connect-b")
    lot = story.Lot(flow)
    headers = sets.connect(sets.spring((("tag", b"a"),), "a"), "b")
    lot.take([(Wire(b"k1", b"{}", headers), 60)])
    event = story.event_of(lot.quarantine(b"k1"), 1)
    seer, masked = story.person("seer", operator=flow), story.person("masked", viewer=flow)
    page = scene.client(seer).get(f"/events/{event.pk}").content.decode()
    told = page[page.index('aria-label="What the dialect tells"') :]
    told = told[: told.index("</dl>")]
    assert "kafka-connect" in page
    assert COMPONENT in told
    assert "TASK_PUT" in told
    assert f"a / P2 / {sets.number('a')}" in told
    assert COMPONENT not in scene.client(masked).get(f"/events/{event.pk}").content.decode()
