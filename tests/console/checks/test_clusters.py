"""What `manage.py check` says of Kafka, and of the flows' secrets. Each fault is a real one."""

import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from console.checks import clusters
from console.embedded.ports import free_port
from parking.models import Cluster, Flow
from tests.console.story import make_flow

pytestmark = pytest.mark.django_db
LARGE = {"max.message.bytes": "1310732"}


@pytest.fixture
def flow(kafka: str, settings: Any) -> Flow:
    """A flow on the broker of the tests, with a secret; its topics are not there yet."""
    flow = make_flow("orders")
    flow.cluster.bootstrap_servers = kafka
    flow.cluster.save()
    settings.FLOW_SECRETS = {"orders": b"s"}
    return flow


def test_without_a_flow_nothing_is_taken_in() -> None:
    (fault,) = clusters.look()
    assert fault.id == "siding.W401"
    assert "manage.py flows" in str(fault.hint)


@pytest.mark.kafka
def test_fit_topics_have_no_faults(flow: Flow, make_topic: Callable[..., str]) -> None:
    flow.source_topic, flow.parking_topic = make_topic("source"), make_topic("parking", **LARGE)
    flow.replay_topic = make_topic("replay", **LARGE)
    flow.save()
    assert clusters.look() == []


@pytest.mark.kafka
def test_each_fault_of_a_topic_names_the_flow_and_what_to_do(flow: Flow, make_topic: Callable[..., str]) -> None:
    flow.source_topic, flow.replay_topic = make_topic("source"), "no-such-topic"
    flow.parking_topic = make_topic("parking", **LARGE, **{"cleanup.policy": "compact"})
    flow.save()
    policy, missing = clusters.look()
    assert str(policy).startswith(
        f"Flow orders: (siding.E403) Parking topic {flow.parking_topic}: cleanup.policy is compact"
    )
    assert policy.hint == "Set cleanup.policy=delete."
    assert "no-such-topic: does not exist" in missing.msg
    assert missing.hint == "Create it with cleanup.policy=delete."


@pytest.mark.kafka
def test_topics_that_forget_too_soon_and_patterns_that_nothing_fits(flow: Flow, make_topic: Callable[..., str]) -> None:
    """Case ING-25, its second half."""
    flow.source_topic, flow.target, flow.replay_topic = make_topic("source"), "plain", ""
    flow.parking_topic = make_topic("parking", **LARGE, **{"retention.ms": "3600000"})
    patterned = make_topic("eu-dead", **LARGE, **{"cleanup.policy": "compact"})
    flow.more_parking_topics = [f"^{patterned[:-1]}.$", "^no-such-.*"]
    flow.save()
    policy, forgetful, unfitting = clusters.look()
    assert (policy.id, policy.hint) == ("siding.E403", "Set cleanup.policy=delete.")
    assert patterned in policy.msg
    assert (forgetful.id, unfitting.id) == ("siding.W406", "siding.W407")
    assert "retention.ms is 3600000" in forgetful.msg
    assert "fits the pattern ^no-such-.*" in unfitting.msg


def test_a_flow_that_is_switched_off_is_not_looked_at(flow: Flow) -> None:
    Flow.objects.update(enabled=False)
    assert [fault.id for fault in clusters.look()] == ["siding.W401"]


@pytest.mark.slow
def test_a_cluster_that_does_not_answer_is_said_once(flow: Flow) -> None:
    port = free_port()
    Cluster.objects.update(bootstrap_servers=f"127.0.0.1:{port}")
    began = time.monotonic()
    (fault,) = clusters.look()
    assert time.monotonic() - began < clusters.SECONDS + 20
    assert fault.id == "siding.E402"
    assert f"127.0.0.1:{port}" in fault.msg


def test_a_server_that_says_nothing_does_not_keep_us(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        Cluster.objects.update(bootstrap_servers=f"127.0.0.1:{mute.getsockname()[1]}")
        began = time.monotonic()
        (fault,) = clusters.look()
        assert time.monotonic() - began < 20
    assert fault.id == "siding.E402"


def test_client_settings_that_do_not_exist(flow: Flow) -> None:
    Cluster.objects.update(settings={"no.such.setting": "1"})
    (fault,) = clusters.look()
    assert "no.such.setting" in fault.msg


def test_secrets_that_sign_nothing_and_flows_that_nothing_signs_for(flow: Flow) -> None:
    assert clusters.secrets([flow], {"orders": b"s"}) == []
    unknown, unsigned = clusters.secrets([flow], {"order": b"s"})
    assert "No such flow: order." in unknown.msg
    assert "Nothing signs the replays of orders" in unsigned.msg
    assert "ACL" in str(unsigned.hint)


def test_secrets_of_a_cluster_are_used_and_not_stored(flow: Flow, settings: Any) -> None:
    settings.CLUSTER_SECRETS = {"main": {"sasl.password": "hunter2"}}
    assert flow.cluster.client_settings["sasl.password"] == "hunter2"
    assert flow.cluster.settings == {}
    Cluster.objects.update(settings={"no.such.setting": "1"})
    assert "hunter2" not in str(clusters.look())
