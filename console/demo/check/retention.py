"""What is settled long enough loses its payload; what waits does not, however old it is."""

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from console.demo.check.stage import Key, Stage
from console.demo.life.clock import Clock, ruling
from parking.models import EventPayload, EventState, JournalEntry
from parking.retention.purge import purge_due


def run(stage: Stage, *, settled: Key, account: str) -> None:
    """`settled` is a key with only settled events. The run is that of the day when they are due. Raises Deviation."""
    report = stage.report
    report.chapter("Kept and purged: only what is settled, and long enough")
    waiting = Key(stage, account)
    waiting.send(stage.sender.event("EvidenceAdded", account, evidence="fax"))
    waiting.wait_track("one event waits", (waiting.sent[0], "poison", "parked"))
    done = [row[0] for row in settled.track()]
    report.same("today nothing is due", expected=0, actual=purge_due(seconds=20))
    before = _scrubs()
    with ruling(Clock(timezone.now() + timedelta(stage.flow.payload_days, 3600))):
        purge_due(seconds=20)
    events = EventState.objects.filter(flow=stage.flow, event__event_id__in=done)
    scrubbed = events.filter(scrubbed_at__isnull=False).count()
    report.same(
        f"after {stage.flow.payload_days} days what is settled is scrubbed", expected=len(done), actual=scrubbed
    )
    report.same("its payloads are gone", expected=0, actual=EventPayload.objects.filter(pk__in=events).count())
    lost = EventState.objects.filter(state="parked", payload__isnull=True).count()
    report.same("nothing that waits has lost its payload", expected=0, actual=lost)
    told = sum(entry.detail["events"] for entry in _entries()) - before[0]
    now = EventState.objects.filter(scrubbed_at__isnull=False).count() - before[1]
    report.same("the journal has it, with how many they were", expected=now, actual=told)


def _entries() -> QuerySet[JournalEntry]:
    return JournalEntry.objects.filter(verb="scrub")


def _scrubs() -> tuple[int, int]:
    """How many events were scrubbed before, as the journal has it and as they are."""
    told = sum(entry.detail["events"] for entry in _entries())
    return told, EventState.objects.filter(scrubbed_at__isnull=False).count()
