"""What people say of an error group: its status, who is on it, what they know. Intake neither reads nor writes this."""

from django.db import models

from parking.models.error_group import ErrorGroup


class Triage(models.Model):
    class Status(models.TextChoices):
        OPEN = "open"
        ACKNOWLEDGED = "acknowledged"
        IGNORED = "ignored"
        RESOLVED = "resolved"

    error_group = models.OneToOneField(ErrorGroup, primary_key=True, on_delete=models.CASCADE, related_name="triage")
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.OPEN)
    opens_after = models.DateTimeField(
        null=True, help_text="ignored until then, or resolved then: an event that comes later opens the group again"
    )
    version = models.CharField(max_length=100, blank=True, help_text="in which it is resolved")
    owner_id = models.CharField(max_length=100, blank=True)
    owner_name = models.CharField(max_length=150, blank=True)
    note = models.TextField(blank=True)
    revision = models.PositiveIntegerField(default=0, help_text="one more with each change")
    actor_id = models.CharField(max_length=100, blank=True)
    actor_name = models.CharField(max_length=150, blank=True, help_text="who changed it last")
    at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["open", "acknowledged"], opens_after__isnull=True)
                | models.Q(status__in=["ignored", "resolved"], opens_after__isnull=False),
                name="triage_status_has_its_moment",
            ),
            models.CheckConstraint(
                condition=models.Q(status="resolved") ^ models.Q(version=""), name="triage_resolved_in_a_version"
            ),
        ]

    @property
    def came_back(self) -> bool:
        """Whether an event came after the group was resolved, or after the date until which it was ignored."""
        return self.opens_after is not None and self.error_group.last_seen > self.opens_after

    @property
    def standing(self) -> str:
        """The status as it is now: what came back is open."""
        return self.Status.OPEN if self.came_back else self.status

    @property
    def seen(self) -> str:
        """A word that changes with everything that a person who changes it should have seen."""
        return f"{self.revision}{'-back' if self.came_back else ''}"


def of(group: ErrorGroup) -> Triage:
    """What was said of the group; open and nobody's where nobody has said anything yet (not saved)."""
    said = getattr(group, "triage", None)  # the error of a missing row is an AttributeError
    return said if isinstance(said, Triage) else Triage(error_group=group)
