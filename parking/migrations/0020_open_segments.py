"""Segments get their indexes when the index process has time for it, so it notes which have them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("parking", "0019_words_in_one_column")]

    operations = [
        migrations.AddField(
            "indexposition",
            "open_id",
            models.BigIntegerField(default=0, help_text="entries from this id on are in segments without indexes"),
        ),
    ]
