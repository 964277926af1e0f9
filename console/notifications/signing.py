"""Signatures of webhooks by Standard Webhooks 1.0 (symmetric, `v1`). Pure but for the settings' secret key.

A hook's secret is not stored: it follows from SIDING_SECRET_KEY, the hook and its secret's version. Each message bears
a signature with the version before too, so that a receiver can be given the new secret at leisure.
"""

import base64
import hashlib
import hmac

from django.conf import settings

from parking.models import Hook

PREFIX = "whsec_"


def secret(hook: Hook, *, version: int | None = None) -> str:
    """`whsec_…`: what the receiver has to be given."""
    about = f"siding webhook {hook.pk} {hook.secret_version if version is None else version}"
    return PREFIX + base64.b64encode(_hmac(settings.SECRET_KEY.encode(), about.encode())).decode()


def secrets(hook: Hook) -> list[str]:
    """Every secret that a receiver of this hook may still have, the newest first."""
    return [
        secret(hook, version=version) for version in range(hook.secret_version, max(hook.secret_version - 2, 0), -1)
    ]


def sign(with_secrets: list[str], *, webhook_id: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature`: `v1,<base64>` for each secret, separated by blanks. `timestamp` in seconds."""
    content = f"{webhook_id}.{timestamp}.".encode() + body
    keys = [base64.b64decode(one.removeprefix(PREFIX)) for one in with_secrets]
    return " ".join(f"v1,{base64.b64encode(_hmac(key, content)).decode()}" for key in keys)


def _hmac(key: bytes, content: bytes) -> bytes:
    return hmac.new(key, content, hashlib.sha256).digest()
