"""Headers under names that somebody made up (dlq formats, §6): read when they name a source topic or an error.

What the names could mean beyond that is not guessed.
"""

from dataclasses import replace

from parking.dialects import causes, identity, made_up, tokens, topics
from parking.dialects.family import Family, Found
from parking.dialects.made_up import Said
from parking.dialects.reading import DEAD_LETTER, RETRY_PENDING, Reading
from parking.dialects.values import text
from parking.record import Headers, Record

_ATTEMPTS = 10**6


def why(found: Found) -> Said:
    """What headers of no family say of an error: for families that say nothing themselves."""
    return made_up.why(made_up.said(found.layout.kept(found.record.headers)))


def read(found: Found) -> Reading:
    record, own = found.record, found.record.headers[found.layout.cut :]
    said = made_up.said(own)
    return found.reading(
        made_up.position(said),
        oldest=found.oldest() or made_up.position(made_up.said(tuple(reversed(own)))),
        headers=_without(found.layout.kept(record.headers)),
        kind=RETRY_PENDING if topics.is_retry(record.topic) else DEAD_LETTER,
        consumer_group=text(said.get(tokens.GROUP)),
        attempts=made_up.number(said.get(tokens.ATTEMPTS), _ATTEMPTS),
        failed_at_ms=made_up.time(said.get(tokens.FAILED_AT)),
        why=causes.why(*made_up.why(said)),
    )


def newer(found: Found) -> Found:
    """A whole failure under made-up names behind the newest family's headers is newer, unless it tells of the same."""
    told = made_up.position(made_up.said(found.record.headers[found.layout.end :]))
    known = found.family.read(found)
    if told is None or (told.topic, told.offset) == (known.source_topic, known.source_offset):
        return found
    layout = found.layout
    behind = replace(layout, newest=FAMILY, families=(*layout.families, FAMILY), cut=layout.end)
    return Found(found.record, FAMILY, behind)


def _asks(record: Record) -> bool:
    said = made_up.said(record.headers)
    return any(field in said for field in (tokens.TOPIC, tokens.MESSAGE, tokens.CLASS, tokens.STACK))


def _without(headers: Headers) -> Headers:
    kept = (one for one in headers if tokens.token(one[0]) is None)
    return tuple(one for one in kept if one[0] not in identity.CARRIED)


FAMILY = Family("hand-rolled", read, asks=_asks)
