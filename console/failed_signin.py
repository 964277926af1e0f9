"""Wrong passwords are counted by address, so that guessing is slow and nobody can lock out somebody else."""

import hashlib
from datetime import timedelta

from django.utils import timezone

from console.models import FailedSignin

REMEMBERED = timedelta(minutes=15)
MOST_FOR_ONE_NAME = 8
MOST = 40


def too_many(*, name: str, address: str) -> bool:
    """Whether this address has failed too often lately: with this name, or at all."""
    recent = FailedSignin.objects.filter(address=address or None, at__gt=timezone.now() - REMEMBERED)
    return recent.count() >= MOST or recent.filter(name_digest=_digest(name)).count() >= MOST_FOR_ONE_NAME


def count(*, name: str, address: str) -> None:
    """Remember one failure, and forget the old ones."""
    now = timezone.now()
    FailedSignin.objects.filter(at__lte=now - REMEMBERED).delete()
    FailedSignin.objects.create(name_digest=_digest(name), address=address or None, at=now)


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.casefold().encode("utf-8", "surrogatepass")).digest()
