"""The parking topics of a flow: several, shared by many flows, and by pattern. On Apache Kafka."""

import time
import uuid

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from parking.intake.flows import by_topic, facts, who
from parking.intake.source import Source
from parking.kafka_in import Reader
from parking.models import Cluster, EventState, Flow, Incident
from parking.trouble import Troubles
from tests.waiting import wait_until

from .conftest import make_flow
from .test_kafka import declared, stored, until


def plain(name, topic, **changes):
    return make_flow(name, parking_topic=topic, target="plain", replay_topic="", **changes)


def spring(source, group=None, error="java.lang.IllegalStateException"):
    """A dead letter of Spring's, as far as intake asks it for its flow."""
    named = [
        ("kafka_dlt-original-topic", source.encode()),
        ("kafka_dlt-original-partition", (0).to_bytes(4, "big")),
        ("kafka_dlt-original-offset", uuid.uuid4().int.to_bytes(16, "big")[-4:].rjust(8, b"\0")),
        ("kafka_dlt-exception-fqcn", error.encode()),
    ]
    return [*named, *([("kafka_dlt-original-consumer-group", group.encode())] if group else [])]


def produce(kafka, topic, headers, key=b"k"):
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(topic, b"{}", key, headers=headers)
    assert producer.flush(60) == 0


def flows_of_events():
    return {state.flow.name: state.kind for state in EventState.objects.select_related("flow")}


@pytest.mark.kafka
@pytest.mark.django_db(transaction=True)
def test_several_topics_of_one_flow(make_topic, kafka, intake):
    first, second = make_topic("first"), make_topic("second")
    flow = declared(first, target="plain", replay_topic="", more_parking_topics=[second])
    for topic in (first, second):
        produce(kafka, topic, spring("payments", flow.consumer_group), key=topic.encode())
    until(stored(2), intake)
    assert set(EventState.objects.values_list("kind", flat=True)) == {"poison"}
    assert set(EventState.objects.values_list("event__parking_topic", flat=True)) == {first, second}


@pytest.mark.kafka
@pytest.mark.django_db(transaction=True)
def test_new_topics_that_fit_a_pattern_appear_by_themselves_and_lose_nothing(make_topic, admin, kafka, intake):
    """Case ING-14 (a): the first records are there before anybody has looked."""
    stem = f"p{uuid.uuid4().hex[:8]}"
    flow = declared(rf"^{stem}-.*\.DLT$", target="plain", replay_topic="")
    intake.turn()
    made = [f"{stem}-eu.DLT", f"{stem}-us.DLT", f"{stem}-us.DLT.old"]
    try:
        for answer in admin.create_topics([NewTopic(topic, 1, 1) for topic in made]).values():
            answer.result(60)
        wait_until(lambda: admin.list_topics(timeout=60).topics.keys() >= set(made))
        for topic in made:
            for _ in range(3):
                produce(kafka, topic, spring("payments", flow.consumer_group))
        until(stored(6), intake)
        produce(kafka, made[0], spring("payments", flow.consumer_group))
        until(stored(7), intake)
        assert set(EventState.objects.values_list("event__parking_topic", flat=True)) == set(made[:2])
        admin.delete_topics([made[0]])[made[0]].result(60)
        produce(kafka, made[1], spring("payments", flow.consumer_group))
        until(stored(8), intake)
        assert not Incident.objects.filter(kind="compacted").exists()
    finally:
        admin.delete_topics(made)


@pytest.mark.kafka
@pytest.mark.django_db(transaction=True)
def test_a_topic_of_two_flows_is_told_apart_by_header_or_refused_clearly(make_topic, kafka, intake):
    topic = make_topic("shared")
    declared(topic, "orders", target="plain", replay_topic="")
    plain("invoices", rf"^{topic[:-1]}.$")
    produce(kafka, topic, spring("orders", "orders-group"), key=b"1")
    produce(kafka, topic, spring("invoices", "invoices-group"), key=b"2")
    until(stored(2), intake)
    assert flows_of_events() == {"orders": "poison", "invoices": "poison"}
    produce(kafka, topic, spring("refunds", "refunds-group"), key=b"3")
    until(stored(3), intake)
    refused = EventState.objects.get(kind="unattributed")
    assert "consumer group refunds-group" in refused.event.unreadable_reason


class TestWho:
    """Without Kafka: whose a record is."""

    pytestmark = pytest.mark.django_db

    def test_by_name_and_by_pattern_of_the_same_cluster(self):
        plain("named", "orders.DLT")
        plain("patterned", r"^orders.*")
        plain("else", r"^payments.*")
        flows = who("orders.DLT", [facts(flow) for flow in Flow.objects.all()])
        assert {flow.name for flow in (flows.named("named"), flows.named("patterned")) if flow} == {
            "named",
            "patterned",
        }
        assert flows.named("else") is None
        assert list(by_topic(Flow.objects.all())) == [(Flow.objects.get(name="named").cluster_id, "orders.DLT")]

    def test_where_no_group_is_named_the_source_topic_tells(self):
        for name in ("orders", "invoices"):
            plain(name, "shared.DLT")
        flows = who("shared.DLT", [facts(flow) for flow in Flow.objects.all()])
        found = flows.ungated(None, source="orders")
        assert found is not None
        assert found.name == "orders"
        assert flows.ungated(None, source="refunds") is None
        assert flows.ungated(None) is None
        assert flows.ungated("unknown", source="orders") is None


def arranged(source: Source) -> bool:
    source.arrange()
    return bool(source.owned)


def test_a_topic_that_does_not_answer_keeps_no_other_unread(make_topic, kafka, transactional_db):
    """It was there when intake looked, and is not when its log is asked for: the others are read all the same."""
    names = [make_topic("parking") for _ in range(3)]
    flows = [facts(plain(f"f{number}", name)) for number, name in enumerate(names)]
    Cluster.objects.update(bootstrap_servers=kafka)
    source = Source(Cluster.objects.get(), Troubles())
    source.declared = flows
    *there, last = Reader({"bootstrap.servers": kafka}).look(names).topics
    for topic in there:
        produce(kafka, topic, [])
    source.look()
    time.sleep(2.0)
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.delete_topics([last])[last].result(60)
    try:
        wait_until(lambda: arranged(source))
        source.look()
        wait_until(lambda: arranged(source) and source.step(0.2) == 0 and EventState.objects.count() == len(there))
    finally:
        source.close()
