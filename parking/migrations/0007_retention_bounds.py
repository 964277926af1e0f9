"""Days that no date can be counted back by are refused."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('parking', '0006_plain_target'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='flow',
            constraint=models.CheckConstraint(condition=models.Q(('metadata_days__lte', 36500)), name='flow_kept_for_a_century_at_most'),
        ),
    ]
