"""Nobody finds what they may not see: no hit, no count, no word of a hidden payload (SEC-01, SEC-03)."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from parking.search.find import keys
from parking.search.grammar import parse
from parking.search.numbers import of_flow, of_payloads

pytestmark = pytest.mark.usefixtures("segment")

SECRET = "4000000000000002"


@pytest.fixture
def two(shelf):
    """The same event in two flows: number in the value, a header, the message and a validation error."""
    for name in ("dev", "devops"):
        shelf.park(
            f"event-of-{name}",
            flow=name,
            key=b"acc-7",
            value=json.dumps({"card": SECRET}).encode(),
            headers=(("x-card", SECRET.encode()),),
            message=f"invalid card {SECRET}",
            error_type="CardError",
        )
    shelf.park("the-last", flow="later", key=b"other")  # so that both are in segments that have their index
    shelf.index()
    return shelf


def test_another_team_finds_nothing_at_all(two):
    for text in (SECRET, "CardError", "acc-7", "acc*", "event-of-devops", "devops-parking/0/0", "x-card", "invalid"):
        answer = two.ask(text, visible=["dev"])
        assert {hit.flow.name for hit in answer.hits} <= {"dev"}, text
        assert (str(answer.count), answer.events, answer.behind) in [("1", 1, 0), ("0", 1, 0)], text
    assert [one.flow.name for one in keys(parse("acc"), visible=[two.flow("dev").pk])] == ["dev"]


def test_who_sees_no_payloads_finds_only_what_is_open(two):
    for text in ("CardError", "acc-7", "event-of-dev", "dev-parking/0/0"):
        assert two.found(text, visible=["dev"], readable=[]) == ["event-of-dev"], text
    for text in (SECRET, "x-card", "invalid", "card", "invalid CardError", f"acc-7 {SECRET}"):
        answer = two.ask(text, visible=["dev"], readable=[])
        assert (answer.hits, str(answer.count)) == ([], "0"), text
        assert answer.unreadable == [two.flow("dev").pk]


def test_payloads_are_a_permission_per_flow(two):
    assert two.found(SECRET, visible=["dev", "devops"], readable=["devops"]) == ["event-of-devops"]
    assert two.found("CardError", visible=["dev", "devops"], readable=["devops"]) == ["event-of-devops", "event-of-dev"]


def test_a_member_is_a_payload_word(shelf):
    shelf.flow(search_paths=["card"])
    shelf.park("e-1", value=json.dumps({"card": SECRET}).encode())
    shelf.index()
    assert shelf.found(f"card={SECRET}") == ["e-1"]
    assert shelf.found(f"card={SECRET}", readable=[]) == []


def test_to_be_readable_is_not_enough(two):
    """Readable flows are those of the visible ones."""
    assert two.found(SECRET, visible=[], readable=["dev"]) == []


def test_the_words_of_others_are_not_even_asked_for(two):
    """What a question costs cannot tell of what is not the viewer's: the same word is another number in each flow."""
    with CaptureQueriesContext(connection) as queries:
        two.ask(SECRET, visible=["dev", "devops"], readable=["dev"])
    asked = " ".join(query["sql"] for query in queries if "parking_eventsearch" in query["sql"])
    dev, devops = two.flow("dev").pk, two.flow("devops").pk
    assert f"words && '{{{number(dev)},{payload_number(dev)}}}'" in asked
    assert f"words @> '{{{number(devops)}}}'" in asked
    assert str(payload_number(devops)) not in asked


def test_what_is_behind_counts_only_ones_own(two):
    two.park("late", flow="devops", key=b"k9")
    assert two.ask("x", visible=["dev"]).behind == 0
    assert two.ask("x", visible=["devops"]).behind == 1


def number(flow: int) -> int:
    """What SECRET is in the index of the flow."""
    return of_flow(flow).number(SECRET)


def payload_number(flow: int) -> int:
    """The same as a word of payloads."""
    return of_payloads(flow).number(SECRET)
