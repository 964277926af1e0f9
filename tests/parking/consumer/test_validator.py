"""What a model proposes is checked before it takes effect, and what is wrong with it is told where it is."""

from typing import Any

import pytest

from parking.consumer import Effect, Event, Invalid, ValidationError, Validator
from tests.parking.consumer.service import Log, Service, source

SCHEMA = {
    "type": "object",
    "required": ["verdict"],
    "properties": {"verdict": {"enum": ["refund", "reject"]}, "a/b": {"items": {"type": "integer", "minimum": 1}}},
}


def no_refund_above_100(proposal: Any) -> list[ValidationError]:
    wrong = proposal.get("cents", 0) > 10_000
    return [ValidationError("/cents", "at most 10000", str(proposal["cents"]), "ask a person")] if wrong else []


def test_what_is_valid_goes_through() -> None:
    proposal = {"verdict": "refund", "a/b": [1, 2]}
    assert Validator(SCHEMA)(proposal) is proposal
    assert Validator(no_refund_above_100)(proposal) is proposal


def test_every_error_of_a_schema_is_told() -> None:
    with pytest.raises(Invalid, match=r"The decision did not pass validation: 2 errors\.") as caught:
        Validator(SCHEMA)({"verdict": "approve", "a/b": [1, 0]})
    told = {error.path: (error.expected, error.actual) for error in caught.value.validation_errors}
    assert told == {
        "/verdict": ('"approve" is not one of "refund" or "reject"', "'approve'"),
        "/a~1b/1": ("0 is less than the minimum of 1", "0"),
    }


def test_an_invalid_proposal_is_parked_at_once_with_its_evidence(service: Service, log: Log) -> None:
    check = Validator(no_refund_above_100)

    def handler(event: Event) -> Effect:
        service.seen.append(event)
        decision = check({"cents": 20_000}, evidence={"model": "m-4.1"})
        return Effect(result=decision)

    service.process._trying.handler = handler
    service.take(source("e1", 0))
    (parked,) = log.announcements
    assert (len(service.seen), parked.attempts[0].error_type, parked.attempts[0].retryable) == (
        1,
        "InvalidDecision",
        False,
    )
    assert parked.attempts[0].validation_errors == (
        ValidationError("/cents", "at most 10000", "20000", "ask a person"),
    )
    assert parked.evidence == {"model": "m-4.1"}


def test_a_schema_that_is_none_is_refused_where_it_is_made() -> None:
    with pytest.raises(ValueError, match="strange"):
        Validator({"type": "strange"})
