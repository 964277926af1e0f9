"""The table of what events have in common (`kinds`): written with the entries that use it, asked before them."""

from collections.abc import Collection, Iterable
from datetime import date

from django.db import connection

from parking.search.kinds import Common

SQL_KEEP = """
INSERT INTO parking_commonwords (day, flow_id, number, words) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING
"""
SQL_HOLDING = "SELECT DISTINCT number, words FROM parking_commonwords WHERE day = ANY(%s) AND words && %s::bigint[]"


def keep(used: Collection[tuple[date, int, Common]]) -> None:
    """Stores what stands in entries of these days and flows, in their transaction."""
    rows = sorted({(day, flow, common.number, common.words) for day, flow, common in used})
    with connection.cursor() as cursor:
        cursor.executemany(SQL_KEEP, [(day, flow, number, list(words)) for day, flow, number, words in rows])


def holding(kept: Iterable[tuple[int, Iterable[int]]], words: Iterable[int]) -> dict[int, list[int]]:
    """Word → the numbers that may stand for it. `kept` are rows of SQL_HOLDING; all are numbers of the words' flows."""
    wanted = set(words)
    found: dict[int, list[int]] = {}
    for number, held in kept:
        for word in wanted.intersection(held):
            found.setdefault(word, []).append(number)
    return found
