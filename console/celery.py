"""The Celery application: `celery -A console worker`. Tasks live in `replay.tasks`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

app = Celery("siding")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
