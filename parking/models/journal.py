"""Who did what, when and why. Append-only: the database refuses UPDATE, DELETE and TRUNCATE."""

import pgtrigger
from django.db import models

from parking.models.flow import Flow


class JournalEntry(models.Model):
    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    actor_id = models.CharField(max_length=100)
    actor_name = models.CharField(max_length=150)
    verb = models.CharField(max_length=40)
    flow = models.ForeignKey(Flow, null=True, on_delete=models.PROTECT, related_name="journal")
    quarantine_id = models.BigIntegerField(null=True)
    event_id = models.BigIntegerField(null=True, help_text="EventState id")
    replay_id = models.BigIntegerField(null=True)
    reason = models.TextField(blank=True)
    detail = models.JSONField(default=dict)
    previous = models.BinaryField(max_length=32)
    digest = models.BinaryField(max_length=32, help_text="SHA-256 over the previous digest and this row")

    class Meta:
        indexes = [models.Index(fields=["quarantine_id", "-id"], name="journal_by_quarantine")]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete | pgtrigger.Truncate)
        ]
