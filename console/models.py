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
