"""Between a model's proposal and the effect: what is wrong with a proposal becomes validation errors."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from parking.attempt import ValidationError
from parking.consumer.errors import Invalid

T = TypeVar("T")
Rule = Callable[[Any], Iterable[ValidationError]]
SHOWN = 200


class Validator:
    """Lets through what is valid. `rule` is a JSON Schema, or a function that gives the validation errors.

    A schema needs the package jsonschema-rs (the extra `schema` of siding-kit). `what` is the word for what is checked.
    """

    def __init__(self, rule: Mapping[str, Any] | Rule, *, what: str = "decision") -> None:
        self._rule = rule if callable(rule) else schema(rule)
        self._what = what

    def __call__(self, proposal: T, *, evidence: Mapping[str, Any] | None = None) -> T:
        """The proposal. Raises Invalid, with every error, where it may not take effect: the event is parked at once."""
        errors = tuple(self._rule(proposal))
        if errors:
            count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
            message = f"The {self._what} did not pass validation: {count}."
            raise Invalid(errors, message, error_type=f"Invalid{self._what.title()}", evidence=evidence)
        return proposal


def schema(definition: Mapping[str, Any]) -> Rule:
    """The rule that a JSON Schema is. Raises ValueError where it is none."""
    import jsonschema_rs

    checker = jsonschema_rs.validator_for(dict(definition))

    def errors(proposal: Any) -> list[ValidationError]:
        return [_told(error) for error in checker.iter_errors(proposal)]

    return errors


def _told(error: Any) -> ValidationError:
    path = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in error.instance_path)
    rule = ".".join(str(step) for step in error.schema_path)
    actual = repr(error.instance)
    return ValidationError(
        path=path,
        expected=error.message,
        actual=actual if len(actual) <= SHOWN else actual[: SHOWN - 1] + "…",
        hint=f"the schema's rule {rule} asks for it",
    )
