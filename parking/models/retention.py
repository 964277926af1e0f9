"""What retention found out about each day (UTC) of parked events, and which days are gone."""

from django.db import models


class KeptDay(models.Model):
    """Why a day is still here, as of `looked_at`. Looked at again from `look_again_at` on."""

    day = models.DateField(primary_key=True)
    looked_at = models.DateTimeField()
    look_again_at = models.DateTimeField()
    events = models.BigIntegerField()
    waiting = models.BigIntegerField(help_text="of them, unsettled or of a key that is not released: they keep the day")
    due_at = models.DateTimeField(null=True, help_text="when the last of its events is due; null while any is waiting")


class DroppedDay(models.Model):
    """A day whose events are gone. `swept_to`: of the narrow rows, those up to this id are gone too."""

    day = models.DateField(primary_key=True)
    dropped_at = models.DateTimeField()
    events = models.BigIntegerField()
    first_id = models.BigIntegerField()
    last_id = models.BigIntegerField()
    swept_to = models.BigIntegerField()
