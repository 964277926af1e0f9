"""What is to happen to one parked event, and the edited copy where there is one. The newest decision counts."""

from django.db import models

from parking.models.event import EventState


class Amendment(models.Model):
    """An edited copy of an event; the original is never touched. Never changed after it is written."""

    event_state = models.ForeignKey(EventState, on_delete=models.PROTECT, related_name="amendments")
    version = models.PositiveIntegerField(help_text="2, 3, …; version 1 is the original")
    value = models.BinaryField(null=True)
    headers = models.BinaryField(help_text="parking.headers.pack")
    fingerprint = models.BinaryField(max_length=32, help_text="over the original key, this value, these headers")
    actor_id = models.CharField(max_length=100)
    actor_name = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["event_state", "version"], name="amendment_version_once")]


class Decision(models.Model):
    class Action(models.TextChoices):
        APPLY = "apply"
        AMEND = "amend"
        SKIP = "skip"

    event_state = models.OneToOneField(EventState, on_delete=models.PROTECT, related_name="decision")
    action = models.CharField(max_length=5, choices=Action.choices)
    amendment = models.ForeignKey(Amendment, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    actor_id = models.CharField(max_length=100)
    actor_name = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(action="amend", amendment__isnull=False)
                | (~models.Q(action="amend") & models.Q(amendment__isnull=True)),
                name="decision_amend_has_amendment",
            ),
        ]
