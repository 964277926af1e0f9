"""Counts of error groups that need no look at events: what each did on a day, and which keys it stopped."""

import django.db.models.deletion
from django.db import migrations, models

COUNT_WHAT_IS_THERE = """
INSERT INTO parking_errorgroupkey (error_group_id, quarantine_id)
SELECT DISTINCT error_group_id, quarantine_id FROM parking_eventstate
WHERE error_group_id IS NOT NULL AND quarantine_id IS NOT NULL;

INSERT INTO parking_errorgroupday (error_group_id, day, events, keys)
SELECT error_group_id, (stored_at AT TIME ZONE 'UTC')::date, count(*), 0 FROM parking_eventstate
WHERE error_group_id IS NOT NULL GROUP BY 1, 2;

UPDATE parking_errorgroupday d SET keys = first.keys
FROM (
    SELECT error_group_id, day, count(*) AS keys FROM (
        SELECT error_group_id, quarantine_id, min((stored_at AT TIME ZONE 'UTC')::date) AS day FROM parking_eventstate
        WHERE error_group_id IS NOT NULL AND quarantine_id IS NOT NULL GROUP BY 1, 2
    ) AS stopped GROUP BY 1, 2
) AS first
WHERE d.error_group_id = first.error_group_id AND d.day = first.day;

ALTER TABLE parking_errorgroupday SET (fillfactor = 50);
"""


class Migration(migrations.Migration):

    dependencies = [
        ("parking", "0010_lean_rows"),
    ]

    operations = [
        migrations.CreateModel(
            name="ErrorGroupDay",
            fields=[
                ("pk", models.CompositePrimaryKey("error_group_id", "day", blank=True, editable=False, primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("events", models.IntegerField(help_text="events that came to the group on that day")),
                ("keys", models.IntegerField(help_text="keys that it stopped for the first time on that day")),
                ("error_group", models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="days", to="parking.errorgroup")),
            ],
        ),
        migrations.CreateModel(
            name="ErrorGroupKey",
            fields=[
                ("pk", models.CompositePrimaryKey("error_group_id", "quarantine_id", blank=True, editable=False, primary_key=True, serialize=False)),
                ("error_group", models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="keys", to="parking.errorgroup")),
                ("quarantine", models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name="error_groups", to="parking.quarantine")),
            ],
        ),
        migrations.RunSQL(COUNT_WHAT_IS_THERE, migrations.RunSQL.noop),
    ]
