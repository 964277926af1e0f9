"""Send a delivery to a URL, signed by Standard Webhooks."""

import time

from django.utils import timezone

from console.notifications import notice, signing, verdict
from console.notifications.verdict import Fate, Verdict
from parking.models import Delivery
from replay import http_out
from replay.destination import Forbidden


def send(delivery: Delivery) -> Verdict:
    """One POST. The id is the delivery's for ever, the timestamp this try's."""
    body = notice.of(delivery).body()
    timestamp = int(time.time())
    headers = {
        "content-type": "application/json",
        "user-agent": "siding",
        "webhook-id": delivery.webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signing.sign(
            signing.secrets(delivery.hook), webhook_id=delivery.webhook_id, timestamp=timestamp, body=body
        ),
    }
    try:
        answer = http_out.post(delivery.hook.address, body, headers)
    except Forbidden as error:
        return Verdict(Fate.FAILED, str(error))
    except http_out.NoAnswer as error:
        return Verdict(Fate.AGAIN, str(error))
    return verdict.of_answer(answer.status, answer.headers, timezone.now())
