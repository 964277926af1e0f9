"""The index in segments (`parking/search/segments.py`). What it holds is derived: it is made anew behind this."""

from django.db import migrations

BY_DAY_AND_ID = r"""
DROP TABLE parking_eventsearch;
CREATE TABLE parking_eventsearch (
    id bigint NOT NULL,
    stored_at timestamptz NOT NULL,
    flow_id bigint NOT NULL,
    event_id text NOT NULL,
    key bytea NOT NULL,
    open_words bigint[] NOT NULL,
    words bigint[] NOT NULL,
    cut boolean NOT NULL,
    PRIMARY KEY (id, stored_at)
) PARTITION BY RANGE (stored_at);
CREATE INDEX event_search_event_id ON parking_eventsearch (flow_id, event_id text_pattern_ops);
CREATE INDEX event_search_key ON parking_eventsearch (flow_id, key);
DO $$ BEGIN
    ALTER TABLE parking_eventsearch
        ALTER COLUMN words SET COMPRESSION lz4,
        ALTER COLUMN open_words SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;
DO $$
DECLARE part record;
BEGIN
    FOR part IN
        SELECT substring(c.relname FROM '\d{8}$') AS day, pg_get_expr(c.relpartbound, c.oid) AS bound
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'parking_parkedevent'::regclass
    LOOP
        EXECUTE format(
            'CREATE TABLE parking_eventsearch_%s PARTITION OF parking_eventsearch %s PARTITION BY RANGE (id)',
            part.day, part.bound
        );
    END LOOP;
END $$;
DELETE FROM parking_indexedday;
UPDATE parking_indexposition SET event_id = 0, attempt_id = 0;
"""


class Migration(migrations.Migration):
    dependencies = [("parking", "0012_not_original")]

    operations = [migrations.RunSQL(BY_DAY_AND_ID)]
