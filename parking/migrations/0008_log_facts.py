"""What the log of each partition was like at the last look, and how long its topic keeps records."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('parking', '0007_retention_bounds'),
    ]

    operations = [
        migrations.AddField(
            model_name='intakeposition',
            name='log_start',
            field=models.BigIntegerField(blank=True, help_text='first offset that Kafka still had then', null=True),
        ),
        migrations.AddField(
            model_name='intakeposition',
            name='log_end',
            field=models.BigIntegerField(blank=True, help_text='where the next readable record would have gone', null=True),
        ),
        migrations.AddField(
            model_name='intakeposition',
            name='looked_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='intakeposition',
            name='read_until',
            field=models.DateTimeField(blank=True, help_text='what was in the log at this time is stored: nothing unread is older', null=True),
        ),
        migrations.AddField(
            model_name='topicincarnation',
            name='retention_ms',
            field=models.BigIntegerField(blank=True, help_text='-1 for unlimited, empty where not told', null=True),
        ),
        migrations.AddField(
            model_name='topicincarnation',
            name='retention_bytes',
            field=models.BigIntegerField(blank=True, help_text='per partition; as above', null=True),
        ),
    ]
