"""The last sign of life of a process: what the status page shows, and what tells that one is gone."""

import os
import socket
from datetime import timedelta
from typing import Any

from django.db.models.functions import Least, Now

from parking import storable
from parking.models import Beat

GONE = timedelta(days=1)


def beat(process: str, note: str = "") -> None:
    """This process lives; `note` is what it does, for people. One row per process, host and pid."""
    Beat.objects.update_or_create(**_this(process), defaults={"at": Now(), "note": storable.text(note, 500)})


def last(process: str, *, silent: timedelta) -> None:
    """This process ends: it counts as `silent` for so long from now on. Its row stays: alarms count from the latest."""
    Beat.objects.filter(**_this(process)).update(at=Least("at", Now() - silent))


def _this(process: str) -> dict[str, Any]:
    return {"process": process, "host": socket.gethostname()[:255], "pid": os.getpid()}


def forget_gone() -> int:
    """Delete the rows of processes that have been silent for a day; how many."""
    return Beat.objects.filter(at__lt=Now() - GONE).delete()[0]
