"""The hold key (what the consumer has told us and been told of it, for ever) and its quarantines (one life each)."""

from django.db import models

from parking.models.flow import Flow


class HoldKey(models.Model):
    """One key of one flow. Source of tokens: max(last + 1, ms since 1970, highest floor + 1)."""

    flow = models.ForeignKey(Flow, on_delete=models.PROTECT, related_name="hold_keys")
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of the hold key")
    key = models.BinaryField()
    last_token = models.BigIntegerField(default=0)
    highest_floor = models.BigIntegerField(default=0)
    released_position = models.BigIntegerField(default=-1, help_text="the highest that the consumer ever told")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["flow", "digest"], name="hold_key_once")]


class Quarantine(models.Model):
    """The life of one stopped key, from its first poison event to its release. Counters count unsettled events."""

    class State(models.TextChoices):
        OPEN = "open"
        REPLAYING = "replaying"
        RELEASED = "released"

    hold_key = models.ForeignKey(HoldKey, on_delete=models.PROTECT, related_name="quarantines")
    flow = models.ForeignKey(Flow, on_delete=models.PROTECT, related_name="quarantines")
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    poison = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0)
    settled = models.PositiveIntegerField(default=0)
    depth_bucket = models.PositiveSmallIntegerField(default=0, help_text="log2 of poison + held")
    last_position = models.BigIntegerField(default=-1)
    opened_at = models.DateTimeField()
    oldest_at = models.DateTimeField(null=True, help_text="parked_at of the head; null when all is settled")
    last_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)
    first_error = models.TextField(blank=True)
    assignee_id = models.CharField(max_length=100, blank=True)
    assignee_name = models.CharField(max_length=150, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hold_key"], condition=~models.Q(state="released"), name="quarantine_one_unreleased"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="released") | models.Q(poison=0, held=0, released_at__isnull=False),
                name="quarantine_released_is_settled",
            ),
        ]
        indexes = [
            models.Index(fields=["flow", "oldest_at"], condition=~models.Q(state="released"), name="quarantine_by_age"),
            models.Index(fields=["flow", "state", "-depth_bucket"], name="quarantine_by_depth"),
        ]
