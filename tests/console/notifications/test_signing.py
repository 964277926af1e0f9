"""Our signatures against the library of those who wrote Standard Webhooks."""

from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from console.notifications import signing
from parking.models import Hook

BODY = '{"type": "incident.opened", "data": {"summary": "größer als 9007199254740993"}}'.encode()


def signed(hook, body=BODY, webhook_id="msg_1"):
    now = int(datetime.now(UTC).timestamp())
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(now),
        "webhook-signature": signing.sign(signing.secrets(hook), webhook_id=webhook_id, timestamp=now, body=body),
    }


def test_the_library_signs_the_same():
    secret = signing.secret(Hook(pk=3))
    at = datetime(2026, 11, 30, tzinfo=UTC)
    theirs = Webhook(secret).sign("msg_1", at, BODY.decode())
    assert signing.sign([secret], webhook_id="msg_1", timestamp=int(at.timestamp()), body=BODY) == theirs


def test_the_library_verifies_what_we_sign_and_refuses_another_body():
    hook = Hook(pk=3)
    receiver = Webhook(signing.secret(hook))
    assert receiver.verify(BODY, signed(hook))["type"] == "incident.opened"
    with pytest.raises(WebhookVerificationError):
        receiver.verify(BODY.replace(b"opened", b"closed"), signed(hook))


def test_every_hook_has_a_secret_of_its_own_that_follows_from_the_secret_key(settings):
    secrets = {signing.secret(Hook(pk=3)), signing.secret(Hook(pk=4)), signing.secret(Hook(pk=3, secret_version=2))}
    settings.SECRET_KEY = "another" * 10
    secrets.add(signing.secret(Hook(pk=3)))
    assert len(secrets) == 4


def test_a_receiver_with_the_secret_before_still_verifies_and_one_with_an_older_one_does_not():
    old = [Webhook(signing.secret(Hook(pk=3, secret_version=version))) for version in (1, 2, 3)]
    headers = signed(Hook(pk=3, secret_version=3))
    assert old[2].verify(BODY, headers)
    assert old[1].verify(BODY, headers)
    with pytest.raises(WebhookVerificationError):
        old[0].verify(BODY, headers)
