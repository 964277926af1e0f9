"""Kafka over TLS with a login, and a broker that goes away: a broker of this module's own."""

import json
import re
from io import StringIO

import pytest
import trustme
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from confluent_kafka.cimpl import NewTopic
from django.core.management import CommandError, call_command

from console.embedded.kafka import Kafka
from console.embedded.ports import HOST, free_port
from console.environment import environment
from parking.intake.loop import Intake
from parking.models import Beat, Cluster, EventState, Incident, JournalEntry
from tests import servers

from .test_kafka import lot_of, until
from .test_process import intake as intake_process
from .test_process import lines, wait

pytestmark = [pytest.mark.kafka, pytest.mark.django_db(transaction=True), pytest.mark.slow]

USER, PASSWORD = "siding", "correct-horse-7"
MORE = """
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller},SECURE://{host}:{secure}
advertised.listeners=PLAINTEXT://{host}:{port},SECURE://{host}:{secure}
controller.quorum.voters=1@{host}:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.secure.sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.secure.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.secure.ssl.keystore.type=PEM
listener.name.secure.ssl.keystore.location={keystore}
"""


class Broker:
    """Apache Kafka with a listener that asks for a login over TLS; `port` is open to everybody."""

    def __init__(self, folder):
        self.folder = folder
        self.authority = trustme.CA()
        self.ca = folder / "ca.pem"
        self.authority.cert_pem.write_to_path(str(self.ca))
        self.secure = f"{HOST}:{free_port()}"
        keystore = folder / "keystore.pem"
        self._write(keystore)
        self._kafka = Kafka(cache_dir=environment().cache_dir)
        self._kafka.more = MORE.format(
            host=HOST,
            port=self._kafka.port,
            controller=free_port(),
            secure=self.secure.partition(":")[2],
            keystore=keystore,
        )
        self.address = self._kafka.address

    def _write(self, keystore):
        """Kafka reads a key only as PKCS 8."""
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            load_pem_private_key,
        )

        leaf = self.authority.issue_cert(HOST, "localhost")
        key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        keystore.write_bytes(text + b"".join(part.bytes() for part in leaf.cert_chain_pems))

    def start(self):
        self._kafka.start(self.folder / "kafka")

    def stop(self):
        self._kafka.stop()

    def client(self, **more):
        return {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": USER,
            "ssl.ca.location": str(self.ca),
            **more,
        }


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    if servers.kafka_is_mock():
        pytest.skip("only librdkafka's mock cluster is here, not Apache Kafka")
    broker = Broker(tmp_path_factory.mktemp("secured"))
    broker.start()
    admin = AdminClient({"bootstrap.servers": broker.address})
    credential = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    change = UserScramCredentialUpsertion(USER, credential, PASSWORD.encode())
    admin.alter_user_scram_credentials([change])[USER].result(60)
    yield broker
    broker.stop()


@pytest.fixture
def flow(broker, request, transactional_db):
    """A flow whose cluster is the secured listener, without the password."""
    from .conftest import make_flow

    name = re.sub("[^a-z]", "-", request.node.name)
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(60)
    cluster = Cluster.objects.create(name="main", bootstrap_servers=broker.secure, settings=broker.client())
    return make_flow(cluster=cluster, parking_topic=name)


def park(broker, flow, *arrived):
    producer = Producer({"bootstrap.servers": broker.address})
    for one in arrived:
        producer.produce(flow.parking_topic, one.record.value, one.record.key, 0, headers=list(one.record.headers))
    assert producer.flush(60) == 0


def secrets(tmp_path, password):
    (tmp_path / "siding_cluster_secrets").write_text(json.dumps({"main": {"sasl.password": password}}))
    return {"SIDING_SECRETS_DIR": str(tmp_path)}


def test_a_login_over_tls_with_the_password_from_a_file(broker, flow, variables, tmp_path):
    park(broker, flow, lot_of(flow).poison("e1", 1))
    with intake_process(variables, tmp_path, **secrets(tmp_path, PASSWORD)) as (_, log):
        wait(lambda: EventState.objects.count() == 1)
        wait(Beat.objects.exists)
        assert "uthentication" not in log.read_text()
    assert PASSWORD not in log.read_text()
    assert not any(PASSWORD in beat.note for beat in Beat.objects.all())


def test_a_wrong_password_is_one_clear_line_that_does_not_hold_it(broker, flow, variables, tmp_path):
    with intake_process(variables, tmp_path, **secrets(tmp_path, "not-the-password")) as (process, log):
        wait(lambda: lines(log, that_hold="cluster main: Kafka cannot be reached"))
        assert process.poll() is None
        wait(lambda: "uthentication failed" in log.read_text())
        assert "not-the-password" not in log.read_text()
        assert "Traceback" not in log.read_text()


def test_an_authority_that_is_not_theirs_is_told(broker, flow, settings, tmp_path):
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    settings.CLUSTER_SECRETS = {"main": {"sasl.password": PASSWORD}}
    Cluster.objects.update(settings=broker.client(**{"ssl.ca.location": str(other)}))
    intake = Intake(look_every=0.2)
    until(lambda: "certificate verify failed" in intake._troubles.note(), intake)
    assert PASSWORD not in intake._troubles.note()
    intake.close()


def test_check_says_why_it_was_not_let_in_and_shows_no_secret(broker, flow, settings):
    settings.CLUSTER_SECRETS = {"main": {"sasl.password": "not-the-password"}}
    out, err = StringIO(), StringIO()
    with pytest.raises(CommandError) as failed:
        call_command("check", stdout=out, stderr=err)
    said = f"{failed.value} {out.getvalue()} {err.getvalue()}"
    assert "uthentication failed" in said
    assert "not-the-password" not in said


def test_secrets_are_not_declared_and_not_journalled(broker, flow, tmp_path):
    declared = tmp_path / "flows.toml"
    declared.write_text(
        f'[[cluster]]\nname = "main"\nbootstrap_servers = "{broker.secure}"\n'
        f'[cluster.settings]\n"sasl.password" = "{PASSWORD}"\n'
    )
    with pytest.raises(CommandError, match="give it in SIDING_CLUSTER_SECRETS") as refused:
        call_command("flows", str(declared))
    assert PASSWORD not in str(refused.value)
    assert not JournalEntry.objects.exists()


def test_a_broker_that_goes_away_loses_nothing_and_stores_nothing_twice(broker, flow, settings):
    settings.CLUSTER_SECRETS = {"main": {"sasl.password": PASSWORD}}
    intake = Intake(look_every=0.2)
    lot = lot_of(flow)
    park(broker, flow, *(lot.poison(f"e{n}", n) for n in range(20)))
    until(lambda: EventState.objects.count() == 20, intake)
    broker.stop()
    until(lambda: "cluster main: Kafka cannot be reached" in intake._troubles.note(), intake)
    assert intake.turn() == 0
    broker.start()
    park(broker, flow, *(lot.poison(f"e{n}", n) for n in range(20, 40)))
    until(lambda: EventState.objects.count() == 40, intake)
    assert sum(event.attempts.count() for event in EventState.objects.all()) == 40
    assert not Incident.objects.exists()
    until(lambda: intake._troubles.note() == "", intake)
    intake.close()
