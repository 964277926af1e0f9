"""Takes away what is left of a dropped day: the narrow rows, attempts, decisions, coordinates.

An event that a replay refers to keeps its narrow row, its decision and the digests of its amendments: who approved
what is told for longer (RET-03). Who refers is asked of the models above this layer, whichever they are.
"""

from collections.abc import Sequence

from django.db import connection, transaction
from django.db.models import F, Model

from parking import days
from parking.models import Amendment, Attempt, Decision, DroppedDay, EventState, ParkedRecord

CHUNK = 2000

SQL_OUTCOMES = """
DELETE FROM parking_outcome o USING parking_eventstate e
WHERE e.id = ANY(%s) AND o.flow_id = e.flow_id AND o.event_digest = e.event_digest
"""


def sweep(*, most: int = CHUNK) -> int:
    """Sweep at most `most` events of the oldest dropped day that is not swept, in one transaction; how many."""
    with transaction.atomic():
        day = DroppedDay.objects.select_for_update().filter(swept_to__lt=F("last_id")).order_by("day").first()
        if day is None:
            return 0
        ids = _ids(day, most)
        _sweep(ids)
        DroppedDay.objects.filter(pk=day.pk).update(swept_to=ids[-1] if len(ids) == most else day.last_id)
    return len(ids)


def _ids(day: DroppedDay, most: int) -> list[int]:
    """What is parked again has come back after all, and stays."""
    start, end = days.bounds(day.day)
    of_day = EventState.objects.filter(
        pk__gt=day.swept_to, pk__lte=day.last_id, stored_at__gte=start, stored_at__lt=end
    )
    return list(of_day.exclude(state="parked").order_by("pk").select_for_update().values_list("pk", flat=True)[:most])


def _sweep(ids: Sequence[int]) -> None:
    gone = sorted(set(ids) - _referred_to(ids))
    for model, events in ((Attempt, ids), (ParkedRecord, ids), (Decision, gone), (Amendment, gone)):
        _delete(model, events)
    with connection.cursor() as cursor:
        cursor.execute(SQL_OUTCOMES, [gone])
    rows = EventState.objects.filter(pk__in=gone)
    rows._raw_delete(rows.db)


def _delete(model: type[Model], events: Sequence[int]) -> None:
    """Without collecting: nothing refers to these rows but what is deleted before them."""
    rows = model._default_manager.filter(event_state__in=events)
    rows._raw_delete(rows.db)


def _referred_to(ids: Sequence[int]) -> set[int]:
    """Those that a row of a higher layer points to."""
    found: set[int] = set()
    for relation in EventState._meta.related_objects:
        if relation.related_model._meta.app_label != EventState._meta.app_label:
            pointing = relation.related_model._base_manager.filter(**{f"{relation.field.name}__in": ids})
            found.update(pointing.values_list(relation.field.name, flat=True))
    return found
