"""Who may do what with which flow."""

from django.conf import settings
from django.db import models

from parking.models import Flow


class Grant(models.Model):
    """One role of one person for one flow; several add up. What a role may do: `console.access.ROLES`."""

    class Role(models.TextChoices):
        VIEWER = "viewer"
        OPERATOR = "operator"
        REVIEWER = "reviewer"
        OWNER = "owner"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="grants")
    flow = models.ForeignKey(Flow, on_delete=models.CASCADE, related_name="grants")
    role = models.CharField(max_length=8, choices=Role.choices)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "flow", "role"], name="grant_once")]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.flow}"


class FailedSignin(models.Model):
    """A wrong password, for 15 minutes, so that guessing is slow (`console.failed_signin`)."""

    name_digest = models.BinaryField(max_length=32, help_text="SHA-256 of what was typed: it may be a password")
    address = models.GenericIPAddressField(null=True)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["address", "at"], name="failed_signin_by_address")]

    def __str__(self) -> str:
        return f"wrong password from {self.address} at {self.at}"
