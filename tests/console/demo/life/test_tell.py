"""The history is whole and lifelike, and can be lived on."""

from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest
from django.db.models import Count, F, Sum
from django.utils import timezone

from console.demo.life.disputes import Disputes
from console.demo.life.invoices import Invoices
from parking import journal, kafka_in
from parking.errors import Refused
from parking.intake import positions
from parking.models import ErrorGroup, EventState, Incident, JournalEntry, ParkedEvent, Quarantine, Rollup
from replay import approve, plan
from replay.models import Replay


@pytest.mark.slow
def test_two_weeks_of_life(told, actors):
    now = timezone.now()
    count = told(now, waiting=4)
    assert EventState.objects.count() == count >= 1_000
    _every_flow_has_two_weeks(now)
    _what_is_believed_fits_together()
    _something_for_every_page(now)
    _it_can_be_lived_on(actors)
    with pytest.raises(Refused, match="history can only be written before anything else"):
        told(now)


def _every_flow_has_two_weeks(now):
    for flow, events in EventState.objects.values_list("flow__name").annotate(Count("id")):
        minutes = Rollup.objects.filter(flow__name=flow)
        counted = minutes.aggregate(all=Sum("poison") + Sum("held") + Sum("other"))["all"]
        assert counted == events, flow
        assert len(set(minutes.values_list("minute__date", flat=True))) >= (12 if flow == "disputes" else 4)
        assert all(now - timedelta(14) <= minute <= now for minute in minutes.values_list("minute", flat=True))
    assert not ParkedEvent.objects.filter(stored_at__lt=F("parked_at") - timedelta(milliseconds=2)).exists()
    assert ErrorGroup.objects.count() >= 10
    assert set(ParkedEvent.objects.values_list("dialect", flat=True)) >= {"siding", "kafka-connect"}
    assert not EventState.objects.not_understood().exists()


def _what_is_believed_fits_together():
    assert not EventState.objects.filter(
        flow__name="disputes", state="parked"
    ).exists()  # its service knows no such key
    assert journal.first_broken() is None
    times = list(JournalEntry.objects.exclude(verb="declare").order_by("id").values_list("at", flat=True))
    assert times == sorted(times)
    of_key = dict(Quarantine.objects.values_list("pk").annotate(Count("events")))
    for key in Quarantine.objects.all():
        assert of_key[key.pk] == key.depth + key.settled
        assert (key.state == "released") == (key.depth == 0)
    started = Replay.objects.filter(finished_at__isnull=False, started_at__isnull=False)
    for moments in started.values_list("requested_at", "decided_at", "started_at", "finished_at"):
        assert all(before and after and before <= after for before, after in pairwise(moments))


def _something_for_every_page(now):
    states = dict(Replay.objects.values_list("state").annotate(Count("id")))
    assert states["requested"] == 1
    assert states["stopped"] >= 2
    assert states["rejected"] >= 1
    assert states["completed"] >= 15
    storm = ErrorGroup.objects.get(
        flow__name="invoices-eu", pattern__contains="no tax rate", error_type__contains="Tax"
    )
    stopped = Quarantine.objects.filter(events__error_group=storm, state="open", opened_at__gt=now - timedelta(hours=4))
    assert stopped.distinct().count() == 41
    firing = Incident.objects.get(flow__name="invoices-eu", kind="depth")
    assert (firing.state, firing.acknowledged_by_name) == ("acknowledged", "On-call engineer")
    over = Incident.objects.get(flow__name="disputes", kind="depth")
    assert over.acknowledged_at
    assert over.resolved_at
    assert over.opened_at < over.acknowledged_at < over.resolved_at
    acted = set(JournalEntry.objects.values_list("actor_name", "verb"))
    assert acted >= {
        ("On-call engineer", "amend"),
        ("On-call engineer", "request"),
        ("Reviewer", "approve"),
        ("Reviewer", "reject"),
        ("Flow owner", "change alarm rule"),
    }


def _it_can_be_lived_on(actors):
    replay = Replay.objects.get(state="requested")
    assert plan.again(replay).digest == bytes(replay.digest)
    approve.approve(replay_id=replay.pk, digest=bytes(replay.digest), actor=actors["reviewer"], reason="checked")
    before = JournalEntry.objects.filter(verb="gap").count()
    flow = replay.flow
    present = kafka_in.Reader(flow.cluster.client_settings).ids([flow.parking_topic])[flow.parking_topic]
    positions.incarnation(flow.cluster, flow.parking_topic, present)  # what intake does first
    assert JournalEntry.objects.filter(verb="gap").count() == before == 0


def test_the_same_seed_makes_the_same_cases():
    at = timezone.now()

    def cases(seed):
        random = Random(seed)
        gated, plain = Disputes(random), Invoices(random)
        return [gated.case(at, behind=3), plain.case("invoices-eu", at), plain.case("shipments", at, events=2)]

    assert cases(4) == cases(4) != cases(5)
