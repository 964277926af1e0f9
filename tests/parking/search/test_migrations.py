"""A database that holds an index of an older form goes on with the newer one, whichever migrations it has seen."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from parking.search import segments

pytestmark = pytest.mark.slow

DAY, SEGMENT = "parking_eventsearch_20260101", "parking_eventsearch_20260101_0"
OLD_SEGMENT = f"""
CREATE TABLE {DAY} PARTITION OF parking_eventsearch
    FOR VALUES FROM ('2026-01-01 00:00+00') TO ('2026-01-02 00:00+00') PARTITION BY RANGE (id);
CREATE TABLE {SEGMENT} PARTITION OF {DAY} FOR VALUES FROM (0) TO (16384);
CREATE INDEX {SEGMENT}_words ON {SEGMENT} USING gin (open_words, words);
INSERT INTO parking_eventsearch (id, stored_at, flow_id, event_id, key, open_words, words, cut)
    VALUES (7, '2026-01-01 12:00+00', 1, 'e-7', 'k', '{{1}}', '{{1,2}}', false);
INSERT INTO parking_indexposition (id, event_id, attempt_id) VALUES (1, 7, 7);
"""
NEW_ENTRY = """
INSERT INTO parking_eventsearch (id, stored_at, flow_id, event_id, key, words, open, cut)
    VALUES (7, '2026-01-01 12:00+00', 1, 'e-7', 'k', '{1,2}', 1, false)
"""


@pytest.fixture
def url(transactional_db):
    """An empty database of its own."""
    name, parts = f"migrated_{uuid.uuid4().hex[:12]}", connection.settings_dict
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    yield f"postgresql://{parts['USER']}:{parts['PASSWORD']}@{parts['HOST']}:{parts['PORT']}/{name}"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def migrate(url, *to):
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "console.settings", "SIDING_DATABASE_URL": url}
    command = [sys.executable, "-W", "ignore", "manage.py", "migrate", "-v0", "parking", *to]
    subprocess.run(command, cwd=root, env=environment, check=True, timeout=300)


@pytest.mark.parametrize("seen", ["0017_triage", "0018_common_words"])
def test_an_index_with_two_columns_of_words_is_made_anew(url, seen):
    migrate(url, seen)
    with psycopg.connect(url, autocommit=True) as database:
        database.execute(OLD_SEGMENT)
        migrate(url)
        assert database.execute("SELECT event_id, attempt_id FROM parking_indexposition").fetchall() == [(0, 0)]
        database.execute(segments.SQL_MAKE.format(segment=SEGMENT, day=DAY, first=0, end=segments.SPAN))
        database.execute(NEW_ENTRY)
        database.execute(segments.SQL_SORT.format(segment=SEGMENT))
        found = database.execute("SELECT indexname FROM pg_indexes WHERE tablename = %s ORDER BY 1", [SEGMENT])
        assert [name.removeprefix(SEGMENT) for (name,) in found] == ["_ids", "_keys", "_pkey", "_words"]
