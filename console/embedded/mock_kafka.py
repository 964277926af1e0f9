"""librdkafka's mock cluster: the real protocol over TCP, inside this process. Stands in where Kafka cannot be had.

It forgets everything at exit, makes topics on first use, and lacks CreateTopics, DeleteRecords and topic ids.
"""

from pathlib import Path

from confluent_kafka import Producer


class MockKafka:
    name = "librdkafka's mock cluster"

    def __init__(self) -> None:
        self.address = ""
        self._owner: Producer | None = None

    def start(self, data_dir: Path) -> str:
        self.launch(data_dir)
        return self.address

    def launch(self, data_dir: Path) -> None:
        self._owner = Producer({"test.mock.num.brokers": 1, "log_level": 0})
        broker = next(iter(self._owner.list_topics(timeout=10).brokers.values()))
        self.address = f"{broker.host}:{broker.port}"

    def wait(self) -> None:
        """Ready at once."""

    def stop(self) -> None:
        self._owner = None
