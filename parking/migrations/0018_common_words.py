"""What many events have in common is indexed once (`parking/search/kinds.py`), in segments of half the size.

The index is derived: it is made anew behind this.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

WITHOUT_SEGMENTS = """
DO $$
DECLARE segment record;
BEGIN
    FOR segment IN SELECT relid FROM pg_partition_tree('parking_eventsearch') WHERE level = 2 LOOP
        EXECUTE format('DROP TABLE %s', segment.relid::regclass);
    END LOOP;
END $$;
DELETE FROM parking_indexedday;
UPDATE parking_indexposition SET event_id = 0, attempt_id = 0;
"""


class Migration(migrations.Migration):
    dependencies = [("parking", "0017_triage")]

    operations = [
        migrations.CreateModel(
            name="CommonWords",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("number", models.BigIntegerField()),
                (
                    "words",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
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
            options={
                "constraints": [models.UniqueConstraint(fields=("day", "flow", "number"), name="common_words_once")],
            },
        ),
        migrations.RunSQL(WITHOUT_SEGMENTS),
    ]
