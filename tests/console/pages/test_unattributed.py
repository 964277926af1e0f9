"""Records in no key: who is shown them where several flows park on one topic and nobody knows whose they are."""

import pytest
from django.test import Client

from parking.models import EventState, Flow
from parking.search.find import find
from parking.search.grammar import parse
from parking.search.index import catch_up
from tests.console import story
from tests.parking.intake.conftest import make_flow, make_lot

SECRET = b"SECRET-PAYROLL"


@pytest.fixture
def shared(db):
    """A record that says of nobody, on a topic of two flows."""
    first = make_flow("accounts", parking_topic="shared.dead")
    make_flow("billing", parking_topic="elsewhere.dead", more_parking_topics=["^shared[.].*$"], target="plain")
    lot = make_lot(first)
    lot.store(lot.record(b"k", SECRET, [("note", SECRET)]))
    return EventState.objects.get()


def client(user):
    client = Client()
    client.force_login(user)
    return client


def seen(user, event):
    """On which of the pages that tell of it the record, or that there is one, is shown."""
    browser = client(user)
    pages = {
        "list": browser.get("/unattributed"),
        "status": browser.get("/status"),
        "search": browser.get("/search?q=shared.dead"),
    }
    found = {name for name, page in pages.items() if f"/events/{event.pk}" in page.content.decode()}
    found |= {"event"} if browser.get(f"/events/{event.pk}").status_code == 200 else set()
    found |= {"raw"} if browser.get(f"/events/{event.pk}/raw").status_code == 200 else set()
    found |= {"keys"} if "/unattributed" in browser.get("/keys").content.decode() else set()
    return found


def test_it_is_shown_to_who_may_read_payloads_of_all_of_them_and_to_nobody_else(shared):
    catch_up()
    first, second = Flow.objects.order_by("name")
    one = story.person("one", operator=first)
    other = story.person("other", operator=second)
    half = story.person("half", operator=first, viewer=second)
    both = story.person("both", operator=first, reviewer=second)
    assert shared.flow == first
    assert [seen(user, shared) for user in (one, other, half)] == [set(), set(), set()]
    assert seen(both, shared) == {"list", "status", "search", "event", "raw", "keys"}


def test_nothing_of_it_is_on_any_page_of_who_may_not_see_it(shared):
    catch_up()
    one = client(story.person("one", operator=Flow.objects.get(name="accounts")))
    for page in ("/unattributed", "/status", "/keys", "/search?q=shared.dead", f"/events/{shared.pk}"):
        assert SECRET not in one.get(page).content, page


def test_a_topic_of_one_flow_is_that_flow_s(shared):
    Flow.objects.filter(name="billing").update(more_parking_topics=[])
    viewer = story.person("viewer", viewer=Flow.objects.get(name="accounts"))
    assert {"list", "event"} <= seen(viewer, shared)
    assert SECRET.decode() not in client(viewer).get("/unattributed").content.decode()


def test_a_flow_that_waits_on_the_topic_does_not_park_there(shared):
    Flow.objects.filter(name="billing").update(retry_topics=["shared.dead"])
    assert "list" in seen(story.person("one", operator=Flow.objects.get(name="accounts")), shared)


def test_a_switched_off_flow_still_counts(shared):
    Flow.objects.filter(name="billing").update(enabled=False)
    assert seen(story.person("one", operator=Flow.objects.get(name="accounts")), shared) == set()


def test_an_event_of_a_key_is_its_flow_s_alone_also_on_such_a_topic(shared):
    first = Flow.objects.get(name="accounts")
    lot = make_lot(first)
    lot.offsets[0] = 1
    lot.store(lot.poison("e1", 1))
    browser = client(story.person("one", operator=first))
    assert browser.get(f"/events/{lot.state('e1').pk}").status_code == 200


def test_no_word_of_it_is_counted_beside_what_is_shown(shared):
    first = Flow.objects.get(name="accounts")
    lot = make_lot(first)
    lot.offsets[0] = 1
    lot.store(lot.poison("e1", 1, value=SECRET))
    catch_up()
    one, both = [first.pk], list(Flow.objects.values_list("pk", flat=True))
    for readable in (one, both):
        answer = find(parse(SECRET.decode()), visible=both, readable=readable)
        assert ([hit.event.event_id for hit in answer.hits], str(answer.count)) == (["e1"], "1")
