"""Cluster, team and flow: whose failures are parked, where, and by which rules they go back."""

from typing import Any

from django.conf import settings
from django.db import models

from parking import hold_key, topic_pattern
from parking.models.kept import kept

REGISTRY = "schema.registry."
"""How the names of settings begin that are for the cluster's schema registry, not for a Kafka client."""


class Cluster(models.Model):
    """One Kafka cluster. `settings` are librdkafka client settings without secrets (SIDING_CLUSTER_SECRETS).

    Those of its schema registry stand among them, with the prefix `schema.registry.`: what a client of Kafka is made
    with never depends on them.
    """

    name = models.CharField(max_length=100, unique=True)
    bootstrap_servers = models.TextField()
    settings = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return self.name

    @property
    def client_settings(self) -> dict[str, Any]:
        """What a client of this cluster is made with."""
        ours = {name: value for name, value in self._given.items() if not name.startswith(REGISTRY)}
        return {**ours, "bootstrap.servers": self.bootstrap_servers}

    @property
    def registry_settings(self) -> dict[str, Any]:
        """What a client of its schema registry is made with, without the prefix; empty where there is none."""
        given = self._given.items()
        return {name.removeprefix(REGISTRY): value for name, value in given if name.startswith(REGISTRY)}

    @property
    def _given(self) -> dict[str, Any]:
        secrets: dict[str, str] = settings.CLUSTER_SECRETS.get(self.name, {})
        return {**self.settings, **secrets}


class Team(models.Model):
    """Who owns a flow."""

    name = models.CharField(max_length=100, unique=True)

    def __str__(self) -> str:
        return self.name


class Flow(models.Model):
    """One (cluster, source topic, consumer group) whose failures are parked."""

    class Promise(models.TextChoices):
        KEYED = hold_key.KEYED, "order per key"
        INDEPENDENT = hold_key.INDEPENDENT, "each event stands alone"

    class Target(models.TextChoices):
        GATED = "gated", "gated Kafka topic"
        PLAIN = "plain", "plain Kafka topic"

    name = models.CharField(max_length=100, unique=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="flows")
    source_topic = models.CharField(max_length=249)
    consumer_group = models.CharField(max_length=255)
    parking_topic = models.CharField(max_length=249, help_text="its name; plain: or a pattern, ^orders-.*\\.DLT$")
    more_parking_topics = models.JSONField(
        default=list, blank=True, help_text="further topics that its failures come to: names and patterns"
    )
    retry_topics = models.JSONField(
        default=list,
        blank=True,
        help_text="topics on which its events wait for another try, names and patterns: shown, never replayed",
    )
    replay_topic = models.CharField(max_length=249, blank=True)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="flows")
    runbook = models.URLField(blank=True)
    promise = models.CharField(max_length=20, choices=Promise.choices, default=Promise.KEYED)
    key_rule = models.CharField(max_length=200, default="raw", help_text="raw, prefix or json:a.b")
    target = models.CharField(max_length=20, choices=Target.choices, default=Target.GATED)
    target_topic = models.CharField(
        max_length=249, blank=True, help_text="plain: the topic that replays go to; empty for the source topic"
    )
    settle_after_seconds = models.PositiveIntegerField(
        default=0,
        help_text="plain: how long after its offset is committed an event may still be parked (retry topics); only "
        "then is it believed to be applied",
    )
    schema = models.JSONField(null=True, blank=True, help_text="JSON Schema of the event's value, for amendments")
    outcome_timeout_seconds = models.PositiveIntegerField(default=60)
    approval_minutes = models.PositiveIntegerField(default=60, help_text="how long a request may wait and be run")
    pace_per_second = models.PositiveIntegerField(default=50)
    window = models.PositiveIntegerField(default=20, help_text="steps of one key in flight at once")
    follow_cap = models.PositiveIntegerField(default=50)
    effect_memory_days = models.PositiveIntegerField(
        default=30, help_text="how long the target remembers effect keys; an older event needs a second confirmation"
    )
    search_paths = models.JSONField(
        default=list,
        blank=True,
        help_text='JSON members found as path=value: ["order.id", "items.sku"]; lists left out',
    )
    payload_days = models.PositiveIntegerField(
        default=30, help_text="days after settling until payloads, headers and error messages are scrubbed"
    )
    metadata_days = models.PositiveIntegerField(
        default=365, help_text="days after settling until the rest may go, with its whole day"
    )
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "source_topic", "consumer_group"], name="flow_identity"),
            models.CheckConstraint(
                condition=~models.Q(target="gated") | ~models.Q(replay_topic=""), name="flow_gated_has_replay_topic"
            ),
            models.CheckConstraint(
                condition=models.Q(metadata_days__gte=models.F("payload_days")), name="flow_metadata_outlives_payloads"
            ),
            models.CheckConstraint(
                condition=models.Q(metadata_days__lte=36_500), name="flow_kept_for_a_century_at_most"
            ),
        ]
        triggers = [kept("flow_id", by="holdkey", called="hold keys")]

    def __str__(self) -> str:
        return self.name

    @property
    def gated(self) -> bool:
        return self.target == self.Target.GATED

    @property
    def parking_topics(self) -> list[str]:
        """Names and patterns of all topics that its failures come to."""
        return [self.parking_topic, *self.more_parking_topics]

    @property
    def read_topics(self) -> list[str]:
        """Names and patterns of all topics that intake reads for it: also those on which its events wait."""
        return [*self.parking_topics, *self.retry_topics]

    def parks_on(self, topic: str) -> bool:
        return any(topic_pattern.fits(declared, topic) for declared in self.parking_topics)

    @property
    def replays_to(self) -> str:
        """The topic that replays are written to."""
        return self.replay_topic if self.gated else self.target_topic or self.source_topic
