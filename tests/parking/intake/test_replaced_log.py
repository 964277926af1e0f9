"""A log that is not the one that was read: compacted, truncated again, its tail lost, replaced under its id."""

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

from parking.intake import positions
from parking.intake.loop import Intake
from parking.models import EventState, Incident, IntakePosition, JournalEntry, ParkedRecord, TopicIncarnation

from .conftest import make_flow
from .test_kafka import declared, leave, lot_of, send, stored, until

pytestmark = [pytest.mark.kafka, pytest.mark.django_db(transaction=True)]


def policy(admin, topic, value):
    entry = ConfigEntry("cleanup.policy", value, incremental_operation=AlterConfigOpType.SET)
    change = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    admin.incremental_alter_configs([change])[change].result(60)


@pytest.fixture
def flow(make_topic, transactional_db):
    return declared(make_topic("parking"))


def test_a_compacted_topic_is_refused_and_an_incident_until_it_is_mended(make_topic, intake, admin, caplog):
    """Case ING-25."""
    topic = make_topic("compacted", **{"cleanup.policy": "compact"})
    flow = declared(topic)
    make_flow("elsewhere", cluster=flow.cluster)
    send(flow, lot_of(flow).poison("e1", 1))
    until(lambda: "set cleanup.policy=delete" in caplog.text, intake)
    assert EventState.objects.count() == 0
    incident = Incident.objects.get()
    assert (incident.kind, incident.flow, incident.key, incident.state) == ("compacted", flow, topic, "firing")
    policy(admin, topic, "delete")
    until(stored(1), intake)
    incident.refresh_from_db()
    assert incident.state == "resolved"
    policy(admin, topic, "compact,delete")
    until(lambda: Incident.objects.filter(state="firing").exists(), intake)
    again = Intake(look_every=0.2)  # it began while nobody looked; it knows of it, and tells nothing twice
    again.turn()
    policy(admin, topic, "delete")
    until(lambda: not Incident.objects.exclude(state="resolved").exists(), again)
    assert Incident.objects.count() == 2
    again.close()


def test_each_gap_is_an_incident_with_its_own_offsets(flow, intake, admin):
    lot = lot_of(flow)
    expected = []
    for first in (0, 10):
        send(flow, *(lot.poison(f"e{n}", n, key=b"%d" % n) for n in range(first, first + 3)))
        until(stored(EventState.objects.count() + 3), intake)
        leave(intake)
        send(flow, *(lot.poison(f"e{n}", n, key=b"%d" % n) for n in range(first + 3, first + 8)))
        offset = IntakePosition.objects.get().next_offset
        place = TopicPartition(flow.parking_topic, 0, offset + 4)
        admin.delete_records([place])[place].result(60)
        expected.append(f"{flow.parking_topic}: records {offset} to {offset + 3} of partition 0 were deleted")
        intake = Intake(look_every=0.2)
        until(stored(EventState.objects.count() + 1), intake)
    summaries = Incident.objects.filter(kind="gap").order_by("pk").values_list("summary", flat=True)
    assert [text in summary for text, summary in zip(expected, summaries, strict=True)] == [True, True]
    intake.close()


def test_known_coordinates_with_other_bytes_are_read_as_another_log(flow, intake):
    """A broker, or a cached topic id, that gives a replaced log the id of the old one swallows nothing."""
    lot = lot_of(flow)
    send(flow, *(lot.poison(f"e{n}", n) for n in range(5)))
    until(stored(5), intake)
    ParkedRecord.objects.update(content=b"\0" * 32)
    IntakePosition.objects.update(next_offset=0)
    send(flow, lot.poison("e5", 5))
    until(stored(6), intake)
    old, new = TopicIncarnation.objects.order_by("generation")
    assert (old.topic_id, new.generation) == (new.topic_id, 1)
    assert ParkedRecord.objects.filter(topic=new).count() == 6
    assert sum(event.attempts.count() for event in EventState.objects.all()) == 6
    assert "came with other bytes than before" in Incident.objects.get(kind="gap").summary


def test_a_log_that_lost_its_tail_is_read_on_from_its_end(flow, intake):
    """As after an unclean election: the log ends before what was read."""
    lot = lot_of(flow)
    send(flow, *(lot.poison(f"e{n}", n) for n in range(3)))
    until(stored(3), intake)
    leave(intake)
    IntakePosition.objects.update(next_offset=50)
    again = Intake(look_every=0.2)
    until(lambda: Incident.objects.filter(kind="gap").exists(), again)
    send(flow, lot.poison("e3", 3))
    until(stored(4), again)
    assert "ends at 3, but was read to 50 before" in JournalEntry.objects.get(verb="gap").reason
    assert IntakePosition.objects.of_now().get().next_offset == 4
    again.close()


def test_what_is_lost_with_a_topic_is_told_as_far_as_it_was_seen(db):
    flow = make_flow()
    old = positions.incarnation(flow.cluster, flow.parking_topic, "id-1")
    for number, log_end in enumerate((9, 5, None)):
        positions.position(old, number, start=5)
        IntakePosition.objects.filter(topic=old, partition=number).update(log_end=log_end)
    positions.incarnation(flow.cluster, flow.parking_topic, "id-2")
    assert Incident.objects.get().summary.endswith("created again: records 5 to 8 of partition 0 are lost.")
    assert JournalEntry.objects.get().detail["lost"] == {"0": [5, 8]}
