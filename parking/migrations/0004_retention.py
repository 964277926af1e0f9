"""Days of retention per flow, what is scrubbed and dropped, and triggers that keep what still waits."""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('parking', '0003_search'),
    ]

    operations = [
        migrations.CreateModel(
            name='DroppedDay',
            fields=[
                ('day', models.DateField(primary_key=True, serialize=False)),
                ('dropped_at', models.DateTimeField()),
                ('events', models.BigIntegerField()),
                ('first_id', models.BigIntegerField()),
                ('last_id', models.BigIntegerField()),
                ('swept_to', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='IndexedDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('events', models.BigIntegerField()),
                ('cut', models.BigIntegerField(default=0, help_text='of them, those read only in part')),
                ('scrubbed', models.BigIntegerField(default=0, help_text='of them, those without the words of their payload')),
            ],
        ),
        migrations.CreateModel(
            name='IndexPosition',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('event_id', models.BigIntegerField(default=0, help_text='every EventState up to this id is indexed')),
                ('attempt_id', models.BigIntegerField(default=0, help_text='so is every Attempt, unless its event is not')),
            ],
        ),
        migrations.CreateModel(
            name='KeptDay',
            fields=[
                ('day', models.DateField(primary_key=True, serialize=False)),
                ('looked_at', models.DateTimeField()),
                ('look_again_at', models.DateTimeField()),
                ('events', models.BigIntegerField()),
                ('waiting', models.BigIntegerField(help_text='of them, unsettled or of a key that is not released: they keep the day')),
                ('due_at', models.DateTimeField(help_text='when the last of its events is due; null while any is waiting', null=True)),
            ],
        ),
        migrations.AddField(
            model_name='eventstate',
            name='scrubbed_at',
            field=models.DateTimeField(help_text='payload, messages and amended copies are gone since then', null=True),
        ),
        migrations.AddField(
            model_name='flow',
            name='metadata_days',
            field=models.PositiveIntegerField(default=365, help_text='days after settling until the rest may go, with its whole day'),
        ),
        migrations.AddField(
            model_name='flow',
            name='payload_days',
            field=models.PositiveIntegerField(default=30, help_text='days after settling until payloads, headers and error messages are scrubbed'),
        ),
        migrations.AddField(
            model_name='flow',
            name='search_paths',
            field=models.JSONField(blank=True, default=list, help_text='JSON members found as path=value: ["order.id", "items.sku"]; lists left out'),
        ),
        migrations.AddIndex(
            model_name='eventstate',
            index=models.Index(condition=models.Q(('scrubbed_at__isnull', True), ('settled_at__isnull', False)), fields=['flow', 'settled_at'], name='event_to_scrub'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='eventpayload',
            trigger=pgtrigger.compiler.Trigger(name='unsettled_stays', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n        IF EXISTS (\n            SELECT FROM parking_eventstate e LEFT JOIN parking_quarantine q ON q.id = e.quarantine_id\n            WHERE e.id = OLD.id AND (e.state = 'parked' OR q.state <> 'released')\n        ) THEN\n            RAISE EXCEPTION 'event % is not settled, or its key is not released: it stays', OLD.id;\n        END IF;\n        RETURN OLD;\n    ", hash='500c20cb73cbf2a2c58dafc1e7e3821159b95c9f', operation='DELETE', pgid='pgtrigger_unsettled_stays_f4955', table='parking_eventpayload', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='eventstate',
            trigger=pgtrigger.compiler.Trigger(name='unsettled_stays', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n        IF EXISTS (\n            SELECT FROM parking_eventstate e LEFT JOIN parking_quarantine q ON q.id = e.quarantine_id\n            WHERE e.id = OLD.id AND (e.state = 'parked' OR q.state <> 'released')\n        ) THEN\n            RAISE EXCEPTION 'event % is not settled, or its key is not released: it stays', OLD.id;\n        END IF;\n        RETURN OLD;\n    ", hash='21de70bce3e8da671c4a514119308819aa5d63a6', operation='DELETE', pgid='pgtrigger_unsettled_stays_c7bac', table='parking_eventstate', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='parkedevent',
            trigger=pgtrigger.compiler.Trigger(name='unsettled_stays', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n        IF EXISTS (\n            SELECT FROM parking_eventstate e LEFT JOIN parking_quarantine q ON q.id = e.quarantine_id\n            WHERE e.id = OLD.id AND (e.state = 'parked' OR q.state <> 'released')\n        ) THEN\n            RAISE EXCEPTION 'event % is not settled, or its key is not released: it stays', OLD.id;\n        END IF;\n        RETURN OLD;\n    ", hash='01986a08ac6add8060049f075bf68645f39de286', operation='DELETE', pgid='pgtrigger_unsettled_stays_8001d', table='parking_parkedevent', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='flow',
            constraint=models.CheckConstraint(condition=models.Q(('metadata_days__gte', models.F('payload_days'))), name='flow_metadata_outlives_payloads'),
        ),
        migrations.AddField(
            model_name='indexedday',
            name='flow',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='parking.flow'),
        ),
        migrations.AddConstraint(
            model_name='indexposition',
            constraint=models.CheckConstraint(condition=models.Q(('id', 1)), name='index_position_one'),
        ),
        migrations.AddConstraint(
            model_name='indexedday',
            constraint=models.UniqueConstraint(fields=('flow', 'day'), name='indexed_day_once'),
        ),
    ]
