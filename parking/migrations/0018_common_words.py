"""What many events have in common is indexed once (`parking/search/kinds.py`), in segments of half the size.

The index is made anew with the next migration.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


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
    ]
