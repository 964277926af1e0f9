"""The topics of the sample services, with the settings that the gate needs."""

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from console.demo.trouble import Trouble

PARTITIONS = 3
SOURCE_BYTES = 1_048_588  # Kafka's default for max.message.bytes
BLOCK_BYTES = 262_144  # what parking and replay topics must take on top (DESIGN section 5)
GATED = ("disputes", "disputes.parking", "disputes.replay")
PLAIN = ("invoices-eu", "invoices-eu.parking", "shipments", "shipments.parking")
NAMES = (*GATED, *PLAIN)


def create(bootstrap: str) -> None:
    """Create what is missing; what exists is left as it is. Raises Trouble."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for name, future in admin.create_topics([_topic(name) for name in NAMES], operation_timeout=30).items():
        try:
            future.result(timeout=40)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise Trouble(
                    f"topic {name} could not be created on {bootstrap} ({error.args[0].str()}): create it yourself"
                ) from None


def touch(bootstrap: str) -> None:
    """For librdkafka's mock cluster, which cannot create topics: there they appear when they are asked for."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for name in NAMES:
        admin.list_topics(name, timeout=10)


def _topic(name: str) -> NewTopic:
    room = SOURCE_BYTES + (BLOCK_BYTES if "." in name else 0)
    return NewTopic(name, PARTITIONS, config={"cleanup.policy": "delete", "max.message.bytes": str(room)})
