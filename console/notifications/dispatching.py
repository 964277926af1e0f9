"""Hand what is due to the notifier, and send by ourselves what nobody takes: no page depends on Redis."""

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Lock

import django_rq
from django.conf import settings
from django.db import connections
from django.db.models.functions import Now
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Queue

from console.notifications import jobs
from console.notifications.deliver import deliver
from parking.models import Delivery

log = logging.getLogger(__name__)

QUEUE = "alerts"
AT_ONCE = 100
THREADS = 4
JOB_SECONDS = 140
# A job that waits longer is of no use: watch has sent by then.
JOB_TTL = 600

_threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="courier")
_carried: set[int] = set()
_lock = Lock()


def dispatch() -> int:
    """Queue or carry every delivery that is due; how many. Returns at once: sending happens elsewhere."""
    due = Delivery.objects.due()
    late = due.filter(due_at__lte=Now() - timedelta(seconds=settings.ALERT_TAKEOVER_SECONDS))
    ours = list(late.values_list("pk", flat=True)[:AT_ONCE])
    new = due.filter(state="pending", queued_at__isnull=True).exclude(pk__in=ours)
    fresh = list(new.values_list("pk", flat=True)[:AT_ONCE])
    for delivery_id in [*ours, *_queue(fresh)]:
        _carry(delivery_id)
    return len(ours) + len(fresh)


def _queue(delivery_ids: list[int]) -> list[int]:
    """Tell the notifier; those that it could not be told of."""
    waiting = list(delivery_ids)
    try:
        with _redis() as redis:
            queue = django_rq.get_queue(QUEUE, connection=redis)
            while waiting:
                _enqueue(queue, waiting[0])
                waiting.pop(0)
    except RedisError as error:
        log.warning("Redis cannot be reached (%s): watch sends by itself", type(error).__name__)
    return waiting


def _enqueue(queue: Queue, delivery_id: int) -> None:
    """One job, under an id of its own. A try may be queued twice or not at all: the claim decides."""
    queue.enqueue_call(
        jobs.send,
        args=(delivery_id,),
        timeout=JOB_SECONDS,
        ttl=JOB_TTL,
        result_ttl=0,
        failure_ttl=JOB_TTL,
        description=f"delivery {delivery_id}",
    )
    Delivery.objects.filter(pk=delivery_id).update(queued_at=Now())


def _redis() -> "Redis":
    """A client that fails at once where Redis does not answer; the queue's own would wait and try again."""
    url = str(settings.RQ_QUEUES[QUEUE]["URL"])
    return Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2, retry=Retry(NoBackoff(), 0))


def _carry(delivery_id: int) -> None:
    """Send it in a thread of this process, unless one is at it."""
    with _lock:
        if delivery_id in _carried:
            return
        _carried.add(delivery_id)
    _threads.submit(_send, delivery_id)


def _send(delivery_id: int) -> None:
    try:
        deliver(delivery_id, by="watch")
    except Exception:
        log.exception("delivery %s could not be sent; watch tries again", delivery_id)
    finally:
        connections.close_all()
        with _lock:
            _carried.discard(delivery_id)
