"""Events that wait on a retry topic for their next try: shown, never replayed from there, in no quarantine.

Nobody tells when such a try succeeds. So a row stays until the event is parked, or until a while after it was due.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Self

from django.db import models

from parking.models.flow import Flow


class PendingRetryQuerySet(models.QuerySet["PendingRetry"]):
    def visible(self, flow_ids: Collection[int]) -> Self:
        """Those of these flows: what a viewer may see."""
        return self.filter(flow_id__in=flow_ids)

    def waiting(self, now: datetime) -> Self:
        """What may still wait, the next one first; of the others it is believed that their try succeeded."""
        return self.filter(until__gt=now).order_by("until", "id")


class PendingRetry(models.Model):
    """The newest retry record of one event. Its bytes stay on the retry topic."""

    id = models.BigAutoField(primary_key=True)
    flow = models.ForeignKey(Flow, on_delete=models.PROTECT, related_name="pending_retries", db_index=False)
    event_digest = models.BinaryField(max_length=32, help_text="SHA-256 of the event id, as of a parked event")
    event_id = models.TextField()
    dialect = models.CharField(max_length=40)
    topic = models.CharField(max_length=249)
    partition = models.IntegerField()
    offset = models.BigIntegerField()
    arrived_at = models.DateTimeField(help_text="the retry record's own timestamp")
    due_at = models.DateTimeField(null=True, help_text="when it is to be tried again, where the record says so")
    until = models.DateTimeField(help_text="if it is not heard of by then, its try is believed to have succeeded")
    attempts = models.BigIntegerField(null=True)
    error_type = models.TextField(blank=True)
    error_message = models.TextField(blank=True)

    objects = PendingRetryQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["flow", "event_digest"], name="pending_retry_once")]
        indexes = [models.Index(fields=["flow", "until"], name="pending_retry_until")]
