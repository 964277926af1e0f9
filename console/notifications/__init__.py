"""Incidents on their way out: hooks, deliveries, signatures, e-mail. What is told to whom, `parking.alarms` decides.

The table of deliveries is the queue. `dispatch`, called by watch, hands what is due to the notifier (django-rq), and
sends by itself what nobody takes.
"""

from console.notifications.dispatching import dispatch

__all__ = ["dispatch"]
