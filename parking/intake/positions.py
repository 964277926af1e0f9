"""How far each partition was read, moved by compare-and-swap; and the lives of a topic."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from parking import alarms, journal
from parking.actor import system
from parking.models import Cluster, Flow, IntakePosition, TopicIncarnation
from parking.topics import Topic

INTAKE = system("intake")
Partition = tuple[int, int]
"""Id of the TopicIncarnation, number of the partition."""

SQL_ADVANCE = """
UPDATE parking_intakeposition p SET next_offset = moved.after, moved_at = %s
FROM unnest(%s::bigint[], %s::int[], %s::bigint[], %s::bigint[]) AS moved (topic_id, partition, before, after)
WHERE p.topic_id = moved.topic_id AND p.partition = moved.partition AND p.next_offset = moved.before
"""


SQL_NOTE = """
UPDATE parking_intakeposition p SET log_start = seen.log_start, log_end = seen.log_end, looked_at = %s,
    read_until = coalesce(seen.read_until, p.read_until)
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::timestamptz[]) AS seen (id, log_start, log_end, read_until)
WHERE p.id = seen.id
"""


class Seen(NamedTuple):
    """What a look said of the log of one IntakePosition; `read_until` where more of it is known to be stored."""

    position_id: int
    log_start: int
    log_end: int
    read_until: datetime | None


class Moved(Exception):
    """Another process has read on meanwhile: nothing of this batch is stored, its records are already."""


def advance(moves: Mapping[Partition, tuple[int, int]]) -> None:
    """Move each partition from one next offset to another, all or none; first in the transaction. Raises Moved."""
    places = sorted(moves)
    columns = [
        [p[0] for p in places],
        [p[1] for p in places],
        [moves[p][0] for p in places],
        [moves[p][1] for p in places],
    ]
    with connection.cursor() as cursor:
        cursor.execute(SQL_ADVANCE, [timezone.now(), *columns])
        if cursor.rowcount != len(places):
            raise Moved


def position(topic: TopicIncarnation, partition: int, *, start: int) -> IntakePosition:
    """The stored position; a partition that is seen for the first time is read from `start`, where its log begins."""
    found, _ = IntakePosition.objects.get_or_create(
        topic=topic, partition=partition, defaults={"next_offset": start, "moved_at": timezone.now()}
    )
    return found


def note(seen: Sequence[Seen], at: datetime) -> None:
    """Keep what was seen of the logs beside the positions, which it does not move."""
    if seen:
        with connection.cursor() as cursor:
            cursor.execute(SQL_NOTE, [at, *([one[part] for one in seen] for part in range(4))])


def retain(life: TopicIncarnation, topic: Topic) -> None:
    """Keep how long the topic keeps its records, where that has changed."""
    if (life.retention_ms, life.retention_bytes) != (topic.retention_ms, topic.retention_bytes):
        life.retention_ms, life.retention_bytes = topic.retention_ms, topic.retention_bytes
        life.save(update_fields=["retention_ms", "retention_bytes"])


def incarnation(cluster: Cluster, name: str, topic_id: str) -> TopicIncarnation:
    """The topic in its present life. A new life of a known name is journalled: what was unread of the old is gone."""
    lives = TopicIncarnation.objects.filter(cluster=cluster, name=name).order_by("-generation", "-id")
    found = lives.filter(topic_id=topic_id).first()
    if found is not None:
        return found
    with transaction.atomic():
        created, is_new = TopicIncarnation.objects.get_or_create(
            cluster=cluster, name=name, topic_id=topic_id, generation=0
        )
        old = TopicIncarnation.objects.filter(cluster=cluster, name=name).exclude(pk=created.pk).order_by("-id").first()
        if is_new and old is not None:
            _journal_recreation(cluster, old, created)
    return created


def skip_gap(position: IntakePosition, *, log_start: int) -> None:
    """Records between the position and the start of the log are gone: journalled, and read on from the start."""
    missing = {"from": position.next_offset, "to": log_start - 1}
    with transaction.atomic():
        advance({(position.topic_id, position.partition): (position.next_offset, log_start)})
        _journal(
            position.topic,
            f"Topic {position.topic.name}: records {missing['from']} to {missing['to']} of partition "
            f"{position.partition} were deleted before they were read.",
            {"partition": position.partition, **missing},
        )


def begin_again(topic: TopicIncarnation, starts: Mapping[int, int], *, reason: str) -> TopicIncarnation:
    """The same topic whose offsets came a second time: a new generation, read from `starts` (partition → offset).

    The other partitions go on where they were. Journalled.
    """
    with transaction.atomic():
        again, is_new = TopicIncarnation.objects.get_or_create(
            cluster=topic.cluster, name=topic.name, topic_id=topic.topic_id, generation=topic.generation + 1
        )
        if is_new:
            known = dict(IntakePosition.objects.filter(topic=topic).values_list("partition", "next_offset"))
            IntakePosition.objects.bulk_create(
                IntakePosition(topic=again, partition=number, next_offset=offset, moved_at=timezone.now())
                for number, offset in {**known, **starts}.items()
            )
            _journal(topic, reason, {"positions": {str(p): known.get(p) for p in starts}, "starts": _text_keys(starts)})
    return again


def _text_keys(starts: Mapping[int, int]) -> dict[str, int]:
    return {str(number): offset for number, offset in starts.items()}


def _journal_recreation(cluster: Cluster, old: TopicIncarnation, new: TopicIncarnation) -> None:
    """With what is known to be lost: what the last look had seen there, and was not read any more."""
    rows = list(IntakePosition.objects.filter(topic=old).order_by("partition"))
    lost = {row.partition: [row.next_offset, (row.log_end or 0) - 1] for row in rows if row.lag}
    listed = ", ".join(f"{first} to {last} of partition {number}" for number, (first, last) in lost.items())
    seen = f"records {listed} are lost" if lost else "all that was seen of the old one had been read"
    _journal(
        new,
        f"Topic {new.name} on {cluster.name} was deleted and created again: {seen}.",
        {
            "old_topic_id": old.topic_id,
            "new_topic_id": new.topic_id,
            "read_to": {str(row.partition): row.next_offset for row in rows},
            "lost": {str(number): offsets for number, offsets in lost.items()},
        },
    )


def _journal(topic: TopicIncarnation, reason: str, detail: dict[str, object]) -> None:
    """A gap is told to the owners of every flow that parks there, and journalled."""
    about = f"{topic.name}/{detail.get('partition', '')}@{detail.get('from', topic.pk)}"  # each gap is one of its own
    for flow in Flow.objects.filter(cluster=topic.cluster):
        if not flow.parks_on(topic.name):
            continue
        alarms.open_incident(kind="gap", flow=flow, key=about, summary=reason)
    journal.write(actor=INTAKE, verb="gap", reason=reason, detail={"topic": topic.name, **detail})
