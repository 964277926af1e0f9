"""What people say of an error group: its status, owner and note."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("parking", "0016_references_of_keys")]

    operations = [
        migrations.CreateModel(
            name="Triage",
            fields=[
                (
                    "error_group",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="triage",
                        serialize=False,
                        to="parking.errorgroup",
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("acknowledged", "Acknowledged"),
                            ("ignored", "Ignored"),
                            ("resolved", "Resolved"),
                        ],
                        default="open",
                        max_length=12,
                    ),
                ),
                (
                    "opens_after",
                    models.DateTimeField(
                        help_text="ignored until then, or resolved then: an event that comes later opens the group again",
                        null=True,
                    ),
                ),
                ("version", models.CharField(blank=True, help_text="in which it is resolved", max_length=100)),
                ("owner_id", models.CharField(blank=True, max_length=100)),
                ("owner_name", models.CharField(blank=True, max_length=150)),
                ("note", models.TextField(blank=True)),
                ("revision", models.PositiveIntegerField(default=0, help_text="one more with each change")),
                ("actor_id", models.CharField(blank=True, max_length=100)),
                ("actor_name", models.CharField(blank=True, help_text="who changed it last", max_length=150)),
                ("at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("opens_after__isnull", True), ("status__in", ["open", "acknowledged"])),
                            models.Q(("opens_after__isnull", False), ("status__in", ["ignored", "resolved"])),
                            _connector="OR",
                        ),
                        name="triage_status_has_its_moment",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status", "resolved"), ("version", ""), _connector="XOR"),
                        name="triage_resolved_in_a_version",
                    ),
                ],
            },
        ),
    ]
