"""Keys are found by how they begin."""

import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('parking', '0004_retention'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='holdkey',
            index=models.Index(models.F('flow'), django.db.models.functions.text.Substr('key', 1, 256), name='hold_key_beginning'),
        ),
    ]
