"""Where a record stands in Kafka."""

from typing import NamedTuple


class Coordinates(NamedTuple):
    """Topic, partition, offset and timestamp (milliseconds since 1970) of one record; a number is −1 where unknown."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int = -1

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}@{self.timestamp_ms}"
