"""Parked events whose failure has the same fingerprint."""

from django.db import models

from parking.models.flow import Flow
from parking.models.kept import kept
from parking.models.quarantine import Quarantine


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


class ErrorGroupDay(models.Model):
    """What an error did on one day (UTC); written by intake with the rows that it counts."""

    pk = models.CompositePrimaryKey("error_group_id", "day")
    error_group = models.ForeignKey(
        ErrorGroup, on_delete=models.CASCADE, related_name="days", db_constraint=False, db_index=False
    )
    day = models.DateField()
    events = models.IntegerField(help_text="events that came to the group on that day")
    keys = models.IntegerField(help_text="keys that it stopped for the first time on that day")


class ErrorGroupKey(models.Model):
    """A key that an error stopped: one row for each of its quarantines."""

    pk = models.CompositePrimaryKey("error_group_id", "quarantine_id")
    error_group = models.ForeignKey(
        ErrorGroup, on_delete=models.CASCADE, related_name="keys", db_constraint=False, db_index=False
    )
    quarantine = models.ForeignKey(
        Quarantine, on_delete=models.CASCADE, related_name="error_groups", db_constraint=False
    )
