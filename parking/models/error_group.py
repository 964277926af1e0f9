"""Parked events whose failure has the same fingerprint."""

from django.db import models

from parking.models.flow import Flow
from parking.models.kept import kept


class ErrorGroup(models.Model):
    flow = models.ForeignKey(Flow, on_delete=models.PROTECT, related_name="error_groups")
    digest = models.BinaryField(max_length=32, help_text="parking.error_group: type and normalised message")
    error_type = models.TextField()
    pattern = models.TextField(help_text="the normalised message")
    sample = models.TextField(help_text="one message as it arrived")
    event_count = models.BigIntegerField(default=0)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["flow", "digest"], name="error_group_once")]
        triggers = [kept("error_group_id")]
