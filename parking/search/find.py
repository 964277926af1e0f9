"""The search itself: newest first, day by day, so that a word that is everywhere and one that is nowhere are both fast.

The planner's estimate for a hashed word says nothing, and `ORDER BY id LIMIT 50` makes it walk the whole table. So
each day, or a few that have little, is asked by the index of its words for at most 1 001 events, in no order. Up to
1 000 are all of them: sorted, counted exactly. If there are more, a day's newest events are walked in windows until the
page is full (`walk`).
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby

from django.db.models import BinaryField
from django.db.models.functions import Substr

from parking import shared_topics
from parking.models import EventState, Flow, HoldKey, IndexedDay, ParkedEvent, Quarantine
from parking.search import position
from parking.search.grammar import LONGEST_PREFIX, Query
from parking.search.question import Scope, after
from parking.search.walk import Count, Day, Place, Walk

PAGE = 50


@dataclass(slots=True)
class Answer:
    """One page of what was found, newest first, and how far it can be trusted.

    `hits` have their event, flow, quarantine, hold key and error group loaded. `count` is None on later pages. `next`
    is where the next page begins, empty after the last one. `events` are those of the viewer's flows that are in the
    index; of them, `cut` were read only in part and `scrubbed` have lost the words of their payload; `behind` are
    stored and not indexed yet. `looked_back_to` is set when the time was up: that day and older ones were not searched,
    and `next` goes on there. `unreadable` are the flows whose payloads the viewer may not see, and were not searched.
    """

    hits: list[EventState] = field(default_factory=list)
    count: Count | None = None
    next: str = ""
    events: int = 0
    cut: int = 0
    scrubbed: int = 0
    behind: int = 0
    looked_back_to: date | None = None
    unreadable: list[int] = field(default_factory=list)


def find(
    query: Query, *, visible: Collection[int], readable: Collection[int], before: str = "", size: int = PAGE
) -> Answer:
    """What of the flows `visible` has all that is asked for; payload words only of those that are `readable`, too.

    `before` is `Answer.next` of the page before; anything else begins at the top. Nothing that was typed makes it
    raise; what takes longer than two seconds is answered in part, and says so.
    """
    start = Place.read(before)
    indexed = list(IndexedDay.objects.filter(flow__in=visible, events__gt=0).order_by("-day", "flow"))
    walk = Walk(query, _days(indexed, visible, readable, start), start, size)
    walk.go()
    return Answer(
        hits=_hits(walk.found, visible, readable),
        count=None if start else walk.count,
        next=str(walk.next) if walk.next else "",
        events=sum(day.events for day in indexed),
        cut=sum(day.cut for day in indexed),
        scrubbed=sum(day.scrubbed for day in indexed),
        behind=position.behind(visible),
        looked_back_to=walk.stopped_at,
        unreadable=sorted(set(visible) - set(readable)),
    )


def keys(query: Query, *, visible: Collection[int], size: int = 20) -> list[Quarantine]:
    """The latest quarantine of each hold key that begins with the one term of the query; none for several terms."""
    first = query.alone.encode()
    if not first or len(first) > LONGEST_PREFIX:
        return []
    beginning = Substr("key", 1, LONGEST_PREFIX, output_field=BinaryField())
    found = HoldKey.objects.annotate(beginning=beginning).filter(
        flow__in=visible, beginning__gte=first, beginning__lt=after(first)
    )
    ids = found.order_by("beginning").values_list("pk", flat=True)[:size]
    latest = Quarantine.objects.filter(hold_key__in=list(ids)).order_by("hold_key", "-pk").distinct("hold_key")
    return sorted(latest.select_related("flow", "hold_key"), key=lambda one: bytes(one.hold_key.key))


def _days(
    indexed: Iterable[IndexedDay], visible: Collection[int], readable: Collection[int], start: Place | None
) -> list[Day]:
    """The days on which there is something of these flows, newest first."""
    paths = dict(Flow.objects.filter(pk__in=visible).values_list("pk", "search_paths"))
    scopes = {flow: Scope(flow, flow in readable, paths[flow]) for flow in paths}
    wanted = [one for one in indexed if start is None or one.day <= start.day]
    by_day = ((day, list(flows)) for day, flows in groupby(wanted, key=lambda one: one.day))
    return [Day(day, [scopes[one.flow_id] for one in flows], sum(one.events for one in flows)) for day, flows in by_day]


def _hits(found: list[Place], visible: Collection[int], readable: Collection[int]) -> list[EventState]:
    """In the order of `found`, less what `shared_topics` hides; the days keep the looked-at partitions few."""
    if not found:
        return []
    ids = [place.id for place in found]
    states = (
        EventState.objects.visible(visible)
        .filter(pk__in=ids)
        .select_related("flow", "quarantine__hold_key", "error_group")
        .in_bulk()
    )
    first, last = (datetime.combine(place.day, time.min, UTC) for place in (found[-1], found[0]))
    events = ParkedEvent.objects.filter(stored_at__gte=first, stored_at__lt=last + timedelta(1), pk__in=ids)
    for event in events:
        if event.pk in states:
            states[event.pk].event = event
    hits = [states[number] for number in ids if number in states]
    closed = shared_topics.closed(readable) if any(hit.quarantine_id is None for hit in hits) else {}
    return [hit for hit in hits if hit.quarantine_id is not None or not shared_topics.hidden(hit.event, closed)]
