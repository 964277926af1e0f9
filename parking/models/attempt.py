"""One failed try at processing a parked event."""

from django.db import models

from parking.models.event import EventState


class Attempt(models.Model):
    event_state = models.ForeignKey(
        EventState, on_delete=models.PROTECT, related_name="attempts", db_index=False, db_constraint=False
    )  # `attempt_once` begins with it
    token = models.BigIntegerField(default=0, help_text="token of the replay; 0 = live")
    number = models.BigIntegerField(help_text="counts from 1 over the event's whole life")
    at = models.DateTimeField(null=True)
    error_type = models.TextField(blank=True)
    message = models.TextField(blank=True)
    stacktrace = models.TextField(blank=True)
    validation_errors = models.JSONField(default=list, help_text="[{path, expected, actual, hint}]")
    retryable = models.BooleanField(null=True)
    evidence = models.JSONField(null=True)

    class Meta:
        ordering = ["number", "token"]
        constraints = [models.UniqueConstraint(fields=["event_state", "token", "number"], name="attempt_once")]
