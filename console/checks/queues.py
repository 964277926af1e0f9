"""Redis: answers, has both databases, and throws no message away."""

from urllib.parse import urlsplit

import redis
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's own name
from redis.backoff import NoBackoff
from redis.retry import Retry

WHERE = "SIDING_REDIS_URL"
SECONDS = 5.0


def look(**_: object) -> list[CheckMessage]:
    return faults(settings.CELERY_BROKER_URL) or second(str(settings.RQ_QUEUES["alerts"]["URL"]))


def faults(url: str) -> list[CheckMessage]:
    """What is wrong with the Redis in which replays are queued."""
    place = _place(url)
    try:
        with _client(url) as client:
            client.ping()
            policy = _policy(client)
    except redis.AuthenticationError as error:
        hint = "Correct user and password in SIDING_REDIS_URL: redis://user:password@host:6379/0."
        return [Error(f"{place} refuses us: {error}", hint=hint, obj=WHERE, id="siding.E302")]
    except redis.RedisError as error:
        hint = "Start Redis, or correct SIDING_REDIS_URL. Until then replays wait, and watch sends alerts by itself."
        return [Error(f"{place} cannot be used: {error}", hint=hint, obj=WHERE, id="siding.E301")]
    if policy in ("noeviction", ""):
        return []
    fault = f"{place} has maxmemory-policy {policy}: it may throw away messages, and replays and alerts come late."
    hint = "Set maxmemory-policy noeviction (CONFIG SET, or redis.conf), or give Siding a Redis of its own."
    return [Warning(fault, hint=hint, obj=WHERE, id="siding.W303")]


def second(url: str) -> list[CheckMessage]:
    """Whether the database for alerts and exports, the one after it, is there: a Redis cluster has only one."""
    try:
        with _client(url) as client:
            client.ping()
    except redis.RedisError as error:
        hint = (
            "Alerts are queued one database after replays: allow it (`databases` in redis.conf), or use a lower number."
        )
        return [Error(f"{_place(url)} cannot be used: {error}", hint=hint, obj=WHERE, id="siding.E304")]
    return []


def _policy(client: redis.Redis) -> str:
    """Empty where we may not ask."""
    try:
        return str(client.info("memory").get("maxmemory_policy", ""))
    except redis.ResponseError:
        return ""


def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(
        url, socket_connect_timeout=SECONDS, socket_timeout=SECONDS, retry=Retry(NoBackoff(), 0)
    )


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"Redis at {parts.hostname}:{parts.port or 6379}, database {parts.path.strip('/') or 0},"
