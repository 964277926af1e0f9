"""The last sign of life of each process."""

from django.db import models


class Beat(models.Model):
    process = models.CharField(max_length=20)
    host = models.CharField(max_length=255)
    pid = models.IntegerField()
    at = models.DateTimeField()
    note = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["process", "host", "pid"], name="beat_once")]
