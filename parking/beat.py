"""The last sign of life of a process: what the status page shows, and what tells that one is gone."""

import os
import socket
from datetime import timedelta

from django.db.models.functions import Now

from parking import storable
from parking.models import Beat

GONE = timedelta(days=1)


def beat(process: str, note: str = "") -> None:
    """This process lives; `note` is what it does, for people. One row per process, host and pid."""
    Beat.objects.update_or_create(
        process=process,
        host=socket.gethostname()[:255],
        pid=os.getpid(),
        defaults={"at": Now(), "note": storable.text(note, 500)},
    )


def forget_gone() -> int:
    """Delete the rows of processes that have been silent for a day; how many."""
    return Beat.objects.filter(at__lt=Now() - GONE).delete()[0]
