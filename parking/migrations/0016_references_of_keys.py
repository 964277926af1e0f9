"""Hold keys and quarantines too are checked where they, or their flow, are deleted (see 0010): PostgreSQL looked at two
keys for each new one. Payloads of up to half a page are not compressed any more, as `parking.days` makes them from now on.
"""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

NOT_COMPRESSED = """
DO $$ DECLARE payload regclass; BEGIN
    FOR payload IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'parking_eventpayload'::regclass LOOP
        EXECUTE format('ALTER TABLE %s SET (toast_tuple_target = 4080)', payload);
    END LOOP;
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('parking', '0015_still_to_be_fetched'),
    ]

    operations = [
        migrations.RunSQL(NOT_COMPRESSED, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='holdkey',
            name='flow',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='hold_keys', to='parking.flow'),
        ),
        migrations.AlterField(
            model_name='quarantine',
            name='flow',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='quarantines', to='parking.flow'),
        ),
        migrations.AlterField(
            model_name='quarantine',
            name='hold_key',
            field=models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='quarantines', to='parking.holdkey'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='flow',
            trigger=pgtrigger.compiler.Trigger(name='referred_to_stays', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF EXISTS (SELECT FROM parking_holdkey WHERE flow_id = OLD.id) THEN\n                RAISE EXCEPTION '% of % is still referred to by hold keys: it stays', OLD.id, TG_TABLE_NAME;\n            END IF;\n            RETURN OLD;\n        ", hash='a02d74eb705c2b3efe9842703a346c2686ab5eed', operation='DELETE', pgid='pgtrigger_referred_to_stays_b8b03', table='parking_flow', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='holdkey',
            trigger=pgtrigger.compiler.Trigger(name='referred_to_stays', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n            IF EXISTS (SELECT FROM parking_quarantine WHERE hold_key_id = OLD.id) THEN\n                RAISE EXCEPTION '% of % is still referred to by quarantines: it stays', OLD.id, TG_TABLE_NAME;\n            END IF;\n            RETURN OLD;\n        ", hash='3bcaba32b1a870fe80467ee17b83d7ccfed04363', operation='DELETE', pgid='pgtrigger_referred_to_stays_03fe8', table='parking_holdkey', when='BEFORE')),
        ),
    ]
