"""The hold key (what the consumer has told us and been told of it, for ever) and its quarantines (one life each)."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Substr

from parking.models.flow import Flow
from parking.models.kept import kept

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class HoldKey(models.Model):
    """One key of one flow. Source of tokens: max(last + 1, ms since 1970, highest floor + 1)."""

    flow = models.ForeignKey(
        Flow, on_delete=models.PROTECT, related_name="hold_keys", db_index=False, db_constraint=False
    )
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of the hold key")
    key = models.BinaryField()
    last_token = models.BigIntegerField(default=0)
    highest_floor = models.BigIntegerField(default=0)
    released_position = models.BigIntegerField(default=-1, help_text="the highest that the consumer ever told")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["flow", "digest"], name="hold_key_once")]
        indexes = [models.Index("flow", Substr("key", 1, 256), name="hold_key_beginning")]  # a key may be of any length
        triggers = [kept("hold_key_id", by="quarantine", called="quarantines")]


class QuarantineQuerySet(models.QuerySet["Quarantine"]):
    def visible(self, flow_ids: Collection[int]) -> Self:
        """Those of these flows: what a viewer may see."""
        return self.filter(flow_id__in=flow_ids)

    def unreleased(self) -> Self:
        return self.exclude(state="released")

    def by_trouble(self, after: str = "") -> Self:
        """Deepest first (in powers of two), then oldest. `after` is `trouble_cursor` of the last one shown before.

        A cursor that is none gives the first page: it stands in a URL.
        """
        ordered = self.order_by("-depth_bucket", "oldest_at", "id")
        return ordered.filter(_beyond(after)) if after else ordered

    def newest(self, after: str = "") -> Self:
        """Latest first, for the released ones. `after` is the id of the last one on the page before."""
        ordered = self.order_by("-id")
        return ordered.filter(id__lt=int(after)) if after.isdecimal() and len(after) < 19 else ordered


def _beyond(cursor: str) -> Q:
    try:
        bucket, oldest, number = (int(part) if part else None for part in cursor.split("."))
        if bucket is None or number is None:
            return Q()
        shallower = Q(depth_bucket__lt=bucket)
        if oldest is None:
            return shallower | Q(depth_bucket=bucket, oldest_at__isnull=True, id__gt=number)
        at = EPOCH + oldest * MICROSECOND
    except (ValueError, OverflowError):
        return Q()
    later = Q(oldest_at__gt=at) | Q(oldest_at=at, id__gt=number) | Q(oldest_at__isnull=True)
    return shallower | Q(later, depth_bucket=bucket)


class Quarantine(models.Model):
    """The life of one stopped key, from its first poison event to its release. Counters count unsettled events."""

    class State(models.TextChoices):
        OPEN = "open"
        REPLAYING = "replaying"
        RELEASED = "released"

    hold_key = models.ForeignKey(HoldKey, on_delete=models.PROTECT, related_name="quarantines", db_constraint=False)
    flow = models.ForeignKey(
        Flow, on_delete=models.PROTECT, related_name="quarantines", db_index=False, db_constraint=False
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    poison = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0)
    settled = models.PositiveIntegerField(default=0)
    depth_bucket = models.PositiveSmallIntegerField(default=0, help_text="bits of poison + held: 0, 1, 2–3, 4–7, …")
    last_position = models.BigIntegerField(default=-1)
    opened_at = models.DateTimeField()
    oldest_at = models.DateTimeField(null=True, help_text="parked_at of the head; null when all is settled")
    last_at = models.DateTimeField()
    released_at = models.DateTimeField(null=True)
    ordered_partition = models.IntegerField(
        null=True, help_text="no gate: the source partition whose offsets are the positions; null: the order of parking"
    )
    first_error = models.TextField(blank=True, help_text="<error type>: <message>")
    assignee_id = models.CharField(max_length=100, blank=True, db_default="")
    assignee_name = models.CharField(max_length=150, blank=True, db_default="")

    objects = QuarantineQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hold_key"], condition=~models.Q(state="released"), name="quarantine_one_unreleased"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="released") | models.Q(poison=0, held=0, released_at__isnull=False),
                name="quarantine_released_is_settled",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["open", "replaying", "released"]), name="quarantine_state_known"
            ),
        ]
        indexes = [
            models.Index(fields=["flow", "oldest_at"], condition=~models.Q(state="released"), name="quarantine_by_age"),
            models.Index(
                fields=["flow", "-depth_bucket", "oldest_at", "id"],
                condition=~models.Q(state="released"),
                name="quarantine_by_trouble",
            ),
            models.Index(fields=["flow", "-id"], condition=models.Q(state="released"), name="quarantine_released"),
        ]
        triggers = [kept("quarantine_id")]

    @property
    def depth(self) -> int:
        """Events that wait: poison and held."""
        return self.poison + self.held

    @property
    def trouble_cursor(self) -> str:
        """Where this one stands in `by_trouble`, for the next page's URL."""
        oldest = "" if self.oldest_at is None else (self.oldest_at - EPOCH) // MICROSECOND
        return f"{self.depth_bucket}.{oldest}.{self.pk}"
