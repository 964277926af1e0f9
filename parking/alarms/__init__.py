"""Alarms: what is measured, when it fires, who is told. Nothing here sends: `console.notifications` does.

`evaluate` is called by watch. `open_incident` and `close_incident` are for whoever finds something that the owner must
know and that no number shows (a gap in the parking topic, a refused signature, a ledger that was restored).
"""

from parking.alarms.evaluation import evaluate
from parking.alarms.opening import open_incident
from parking.alarms.resolving import close_incident
from parking.alarms.rules import ensure_rules

__all__ = ["close_incident", "ensure_rules", "evaluate", "open_incident"]
