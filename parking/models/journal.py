"""Who did what, when and why. Append-only: the database refuses UPDATE, DELETE and TRUNCATE."""

from typing import Self

import pgtrigger
from django.db import models

from parking.models.flow import Flow


class JournalQuerySet(models.QuerySet["JournalEntry"]):
    def of_quarantine(self, quarantine_id: int) -> Self:
        """What happened to one key, latest first."""
        return self.filter(quarantine_id=quarantine_id).order_by("-id")


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

    objects = JournalQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["quarantine_id", "-id"], name="journal_by_quarantine")]
        triggers = [
            pgtrigger.Trigger(
                name="append_only",
                level=pgtrigger.Statement,  # the only level at which TRUNCATE can be refused
                when=pgtrigger.Before,
                operation=pgtrigger.Update | pgtrigger.Delete | pgtrigger.Truncate,
                func="RAISE EXCEPTION 'the journal is append-only: % refused', TG_OP;",
            )
        ]
