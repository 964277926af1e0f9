"""Declares clusters, teams and flows: what is given is so afterwards, what is not given is left alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction

from parking import alarms, client_settings, hold_key, journal, topic_pattern
from parking.actor import Actor
from parking.errors import Refused
from parking.models import Cluster, Flow, Team

Declared = Cluster | Team | Flow
Members = Mapping[str, Any]


def declare(
    *, clusters: Sequence[Members], teams: Sequence[Members], flows: Sequence[Members], actor: Actor
) -> list[str]:
    """One transaction, journalled. Each is a mapping of the model's fields, a flow's `cluster` and `team` by name.

    Returns one line for each that was made or changed. Raises Refused, with everything that is wrong, one line each;
    nothing is changed then.
    """
    try:
        with transaction.atomic():
            return _all(clusters, teams, flows, actor)
    except IntegrityError as error:
        raise Refused(f"The database refuses it: {str(error).splitlines()[0]}") from error


def _all(clusters: Sequence[Members], teams: Sequence[Members], flows: Sequence[Members], actor: Actor) -> list[str]:
    wrong: list[str] = []
    lines: list[tuple[str, Flow | None]] = []
    given: list[tuple[type[Declared], Sequence[Members]]] = [(Cluster, clusters), (Team, teams), (Flow, flows)]
    for model, rows in given:
        kind = model.__name__.lower()
        for place, members in enumerate(rows, start=1):
            try:
                row, change = _declare(model, members)
            except Refused as error:
                wrong.append(f"{kind} {members.get('name') or f'number {place}'}: {error}")
                continue
            flow = row if isinstance(row, Flow) else None
            if flow is not None:
                alarms.ensure_rules(flow=flow, actor=actor)
            if change:
                lines.append((f"{kind} {row}: {change}", flow))
    if wrong:
        raise Refused("\n".join(wrong))
    for line, flow in lines:
        journal.write(actor=actor, verb="declare", flow=flow, reason=line)
    return [line for line, _ in lines]


def _declare(model: type[Declared], members: Members) -> tuple[Declared, str]:
    """Make or change one; what was done in words, empty for nothing. Raises Refused."""
    name = members.get("name")
    if not isinstance(name, str) or not name:
        raise Refused(f"name: a text was expected, {name!r} arrived")
    fields = {f.name: f for f in model._meta.concrete_fields if f.name != "id"}
    unknown = sorted(set(members) - set(fields))
    if unknown:
        raise Refused(f"{unknown[0]}: no such field; there are {', '.join(fields)}")
    found = model._default_manager.filter(name=name).first()
    is_new = found is None
    row = found or model(name=name)
    before = {} if is_new else _values(row)
    for field, value in members.items():
        setattr(row, field, _named(fields[field], value))
    _check(row)
    changed = [field for field, value in _values(row).items() if is_new or value != before[field]]
    if not changed:
        return row, ""
    row.save()
    return row, "made" if is_new else f"changed {', '.join(changed)}"


def _named(field: "models.Field[Any, Any]", value: Any) -> Any:
    """A cluster or team by its name; anything else as it is."""
    if not isinstance(field, models.ForeignKey):
        return value
    found = field.related_model._default_manager.filter(name=value).first()
    if found is None:
        raise Refused(f"{field.name}: there is no {field.name} named {value!r}; declare it in the same file, before")
    return found


def _check(row: Declared) -> None:
    try:
        row.full_clean(validate_unique=False)
        if isinstance(row, Flow):
            hold_key.check(rule=row.key_rule, promise=row.promise)
            _check_topics(row)
        if isinstance(row, Cluster):
            client_settings.check(row.settings)
    except ValidationError as error:
        lines = (f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items())
        raise Refused("; ".join(lines)) from error
    except ValueError as error:
        raise Refused(str(error)) from error


def _check_topics(flow: Flow) -> None:
    if not isinstance(flow.more_parking_topics, list):
        raise ValueError('more_parking_topics: a list such as ["orders.DLT", "^orders-.*\\\\.DLT$"] was expected')
    if not isinstance(flow.retry_topics, list):
        raise ValueError('retry_topics: a list such as ["orders-retry-0", "^orders-retry-.*$"] was expected')
    for field, topics in (("parking topics", flow.parking_topics), ("retry_topics", flow.retry_topics)):
        for declared in topics:
            try:
                topic_pattern.check(declared)
            except ValueError as error:
                raise ValueError(f"{field}: {error}") from None
    if flow.gated and topic_pattern.is_pattern(flow.parking_topic):
        raise ValueError(f"parking_topic: the topic's name was expected, {flow.parking_topic!r} is a pattern")
    for own in filter(None, (flow.source_topic, flow.replay_topic, flow.target_topic)):
        if flow.parks_on(own):
            raise ValueError(f"parking topics: {own!r} is among them, which the flow reads or is replayed to")
        if any(topic_pattern.fits(declared, own) for declared in flow.retry_topics):
            raise ValueError(f"retry_topics: {own!r} is among them, which the flow reads or is replayed to")


def _values(row: models.Model) -> dict[str, Any]:
    return {field.name: getattr(row, field.attname) for field in row._meta.concrete_fields if field.name != "id"}
