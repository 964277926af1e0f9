"""Search: the words of parked events, by day like the events themselves."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

BY_DAY = """
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
CREATE INDEX event_search_words ON parking_eventsearch USING gin (open_words, words);
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
        SELECT substring(c.relname FROM '\\d{8}$') AS day, pg_get_expr(c.relpartbound, c.oid) AS bound
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'parking_parkedevent'::regclass
    LOOP
        EXECUTE format('CREATE TABLE parking_eventsearch_%s PARTITION OF parking_eventsearch %s', part.day, part.bound);
    END LOOP;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("parking", "0002_alarms")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="EventSearch",
                    fields=[
                        (
                            "event_state",
                            models.OneToOneField(
                                db_column="id",
                                db_constraint=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                primary_key=True,
                                related_name="search",
                                serialize=False,
                                to="parking.eventstate",
                            ),
                        ),
                        ("stored_at", models.DateTimeField()),
                        ("event_id", models.TextField(help_text="for prefixes")),
                        ("key", models.BinaryField(help_text="for prefixes: the first 256 bytes of the hold key")),
                        (
                            "open_words",
                            django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
                        ),
                        (
                            "words",
                            django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
                        ),
                        (
                            "cut",
                            models.BooleanField(help_text="the payload was too long: only its beginning was read"),
                        ),
                        (
                            "flow",
                            models.ForeignKey(
                                db_constraint=False,
                                db_index=False,
                                on_delete=django.db.models.deletion.DO_NOTHING,
                                related_name="+",
                                to="parking.flow",
                            ),
                        ),
                    ],
                )
            ],
            database_operations=[migrations.RunSQL(BY_DAY, "DROP TABLE parking_eventsearch")],
        ),
    ]
