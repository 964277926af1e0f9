"""The notifier's job (`manage.py rqworker alerts`). It carries an id; the database is the truth."""

from django.db import close_old_connections

from console.notifications.deliver import deliver


def send(delivery_id: int) -> None:
    """Send one delivery if it is still due; a job that comes twice or too late finds nothing to do."""
    close_old_connections()
    deliver(delivery_id, by="notifier")
