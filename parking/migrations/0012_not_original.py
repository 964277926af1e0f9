from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('parking', '0011_error_group_days'),
    ]

    operations = [
        migrations.AddField(
            model_name='eventpayload',
            name='wrapped',
            field=models.BinaryField(help_text='key and value as they arrived (parking.fields.pack), where key and value were unwrapped from them', null=True),
        ),
        migrations.AddField(
            model_name='parkedevent',
            name='not_original',
            field=models.TextField(blank=True, db_default='', help_text='why what a replay would send is not, or may not be, what the consumer had been given'),
        ),
        migrations.AlterField(
            model_name='parkedevent',
            name='fingerprint',
            field=models.BinaryField(help_text='of the original record (DESIGN section 5); empty where its bytes are still to be fetched', max_length=32),
        ),
    ]
