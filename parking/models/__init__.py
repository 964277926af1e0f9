"""The store: what is parked, for which flow, and what became of it. Shape and reasons: ARCHITECTURE, "Tables"."""

from parking.models.alarm import AlarmRule, Severity
from parking.models.attempt import Attempt
from parking.models.beat import Beat
from parking.models.decision import Amendment, Decision
from parking.models.error_group import ErrorGroup, ErrorGroupDay, ErrorGroupKey
from parking.models.event import EventPayload, EventState, ParkedEvent, ParkedRecord
from parking.models.flow import Cluster, Flow, Team
from parking.models.hook import Delivery, Hook
from parking.models.incident import Incident, Silence
from parking.models.intake_position import IntakePosition, Rollup, TopicIncarnation
from parking.models.journal import JournalEntry
from parking.models.outcome import Outcome
from parking.models.pending_retry import PendingRetry
from parking.models.quarantine import HoldKey, Quarantine
from parking.models.retention import DroppedDay, KeptDay
from parking.models.search import EventSearch, IndexedDay, IndexPosition
from parking.models.triage import Triage

__all__ = [
    "AlarmRule",
    "Amendment",
    "Attempt",
    "Beat",
    "Cluster",
    "Decision",
    "Delivery",
    "DroppedDay",
    "ErrorGroup",
    "ErrorGroupDay",
    "ErrorGroupKey",
    "EventPayload",
    "EventSearch",
    "EventState",
    "Flow",
    "HoldKey",
    "Hook",
    "Incident",
    "IndexPosition",
    "IndexedDay",
    "IntakePosition",
    "JournalEntry",
    "KeptDay",
    "Outcome",
    "ParkedEvent",
    "ParkedRecord",
    "PendingRetry",
    "Quarantine",
    "Rollup",
    "Severity",
    "Silence",
    "Team",
    "TopicIncarnation",
    "Triage",
]
