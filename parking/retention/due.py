"""What is due, and what is kept although it is old."""

from datetime import datetime, timedelta

from django.db.models import QuerySet

from parking.models import EventState, Flow, Quarantine


def cutoff(flow: Flow, now: datetime) -> datetime:
    """Payloads of what was settled before are due."""
    return now - timedelta(flow.payload_days)


def to_scrub(flow: Flow, now: datetime) -> QuerySet[EventState]:
    """Settled long enough and of a released key, with their payload; the longest settled first."""
    return _old(flow, now).filter(quarantine__state="released").order_by("settled_at")


def kept_by_key(flow: Flow, now: datetime) -> QuerySet[EventState]:
    """Settled long enough, but something of their key is not: nothing of an open key is purged."""
    return _old(flow, now).exclude(quarantine__state="released")


def waiting_keys(flow: Flow, now: datetime) -> QuerySet[Quarantine]:
    """Keys whose head waits for longer than payloads of settled events are kept, the oldest first."""
    return Quarantine.objects.unreleased().filter(flow=flow, oldest_at__lt=cutoff(flow, now)).order_by("oldest_at")


def not_understood(flow: Flow, now: datetime) -> QuerySet[EventState]:
    """Events of that age that are in no key, because no dialect knows them or they could not be read."""
    return EventState.objects.not_understood().filter(flow=flow, stored_at__lt=cutoff(flow, now))


def _old(flow: Flow, now: datetime) -> QuerySet[EventState]:
    return EventState.objects.filter(flow=flow, scrubbed_at__isnull=True, settled_at__lt=cutoff(flow, now))
