"""The words of an event in one column, the open ones first; the indexes of a segment are built when it is full.

The index is derived: it is made anew behind this. Segments go a few at a time, because each that is dropped holds locks
until its transaction ends, and a server has room for some thousands.
"""

from django.db import migrations, models

WITHOUT_SEGMENTS = """
DO $$
DECLARE segment text;
BEGIN
    FOR segment IN SELECT relid::regclass::text FROM pg_partition_tree('parking_eventsearch') WHERE level = 2 LOOP
        EXECUTE format('DROP TABLE IF EXISTS %s', segment);
        COMMIT;
    END LOOP;
END $$
"""
IN_ONE_COLUMN = """
DO $$
DECLARE segment text;
BEGIN
    LOCK parking_indexposition IN ACCESS EXCLUSIVE MODE;
    FOR segment IN SELECT relid::regclass::text FROM pg_partition_tree('parking_eventsearch') WHERE level = 2 LOOP
        EXECUTE format('DROP TABLE %s', segment);
    END LOOP;
    ALTER TABLE parking_eventsearch DROP COLUMN IF EXISTS open_words, ADD COLUMN IF NOT EXISTS open integer NOT NULL;
    DROP INDEX IF EXISTS event_search_event_id, event_search_key;
    DELETE FROM parking_indexedday;
    DELETE FROM parking_commonwords;
    UPDATE parking_indexposition SET event_id = 0, attempt_id = 0;
END $$
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("parking", "0018_common_words")]

    operations = [
        migrations.RunSQL(WITHOUT_SEGMENTS),
        migrations.RunSQL(
            IN_ONE_COLUMN,
            state_operations=[
                migrations.RemoveField("eventsearch", "open_words"),
                migrations.AddField(
                    "eventsearch",
                    "open",
                    models.IntegerField(default=0, help_text="how many of the words are open, the first ones"),
                    preserve_default=False,
                ),
            ],
        ),
    ]
