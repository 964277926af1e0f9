"""What intake writes for each record is not checked when it is written but when it is deleted (parking.models.event).

Nine references took PostgreSQL 26 of 47 microseconds per event. Coordinates are the key of `ParkedRecord`, which needs no
number of its own. Rows that change with every batch find room for that in their page.
"""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

KEYED_BY_COORDINATES = """
ALTER TABLE parking_parkedrecord DROP COLUMN id;
ALTER TABLE parking_parkedrecord DROP CONSTRAINT parked_record_once;
ALTER TABLE parking_parkedrecord ADD PRIMARY KEY (topic_id, partition, "offset");
"""
ROOM = """
ALTER TABLE parking_quarantine SET (fillfactor = 60);
ALTER TABLE parking_errorgroup SET (fillfactor = 50);
ALTER TABLE parking_rollup SET (fillfactor = 50);
ALTER TABLE parking_intakeposition SET (fillfactor = 50);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('parking', '0009_parking_topics'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(
                    model_name='parkedrecord',
                    name='parked_record_once',
                ),
                migrations.RemoveField(
                    model_name='parkedrecord',
                    name='id',
                ),
                migrations.AddField(
                    model_name='parkedrecord',
                    name='pk',
                    field=models.CompositePrimaryKey('topic_id', 'partition', 'offset', blank=True, editable=False, primary_key=True, serialize=False),
                ),
            ],
            database_operations=[migrations.RunSQL(KEYED_BY_COORDINATES)],
        ),
        migrations.RunSQL(ROOM, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='attempt',
            name='event_state',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='parking.eventstate'),
        ),
        migrations.AlterField(
            model_name='eventpayload',
            name='event_state',
            field=models.OneToOneField(db_column='id', db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='payload', serialize=False, to='parking.eventstate'),
        ),
        migrations.AlterField(
            model_name='eventstate',
            name='error_group',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='events', to='parking.errorgroup'),
        ),
        migrations.AlterField(
            model_name='eventstate',
            name='flow',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='events', to='parking.flow'),
        ),
        migrations.AlterField(
            model_name='eventstate',
            name='quarantine',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='events', to='parking.quarantine'),
        ),
        migrations.AlterField(
            model_name='parkedevent',
            name='cluster',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='parking.cluster'),
        ),
        migrations.AlterField(
            model_name='parkedevent',
            name='event_state',
            field=models.OneToOneField(db_column='id', db_constraint=False, on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='event', serialize=False, to='parking.eventstate'),
        ),
        migrations.AlterField(
            model_name='parkedrecord',
            name='event_state',
            field=models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='records', to='parking.eventstate'),
        ),
        migrations.AlterField(
            model_name='parkedrecord',
            name='topic',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='parking.topicincarnation'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='errorgroup',
            trigger=pgtrigger.compiler.Trigger(name='referred_to_stays', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF EXISTS (SELECT FROM parking_eventstate WHERE error_group_id = OLD.id) THEN\n                RAISE EXCEPTION '% of % is still referred to by events: it stays', OLD.id, TG_TABLE_NAME;\n            END IF;\n            RETURN OLD;\n        ", hash='0c2c86348783f7e18f7a37e260480fd9898b22ed', operation='DELETE', pgid='pgtrigger_referred_to_stays_5b307', table='parking_errorgroup', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='quarantine',
            trigger=pgtrigger.compiler.Trigger(name='referred_to_stays', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF EXISTS (SELECT FROM parking_eventstate WHERE quarantine_id = OLD.id) THEN\n                RAISE EXCEPTION '% of % is still referred to by events: it stays', OLD.id, TG_TABLE_NAME;\n            END IF;\n            RETURN OLD;\n        ", hash='f364b087a9d9ad73994c852c626af3604cf5a2c6', operation='DELETE', pgid='pgtrigger_referred_to_stays_47871', table='parking_quarantine', when='BEFORE')),
        ),
    ]
