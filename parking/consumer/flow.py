"""What a consumer has to know of its flow; the same names and values as in the console."""

from dataclasses import dataclass, field

from parking import hold_key
from parking.hold_key import KEYED, RAW


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """One (cluster, source topic, consumer group) whose failures are parked.

    `key_rule` is `raw`, `prefix` or `json:a.b`, `promise` is `keyed` or `independent`. With a `secret` only signed
    replay records are obeyed; without one, whoever may write to the replay topic can make things happen.
    """

    name: str
    source_topic: str
    parking_topic: str
    replay_topic: str
    consumer_group: str
    key_rule: str = RAW
    promise: str = KEYED
    secret: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        hold_key.check(rule=self.key_rule, promise=self.promise)
        if len({self.source_topic, self.parking_topic, self.replay_topic}) < 3:
            raise ValueError(f"flow {self.name}: source, parking and replay topic must be three topics")

    def hold_key(self, key: bytes | None, event_id: str) -> bytes:
        """The hold key of the event with this record key and event id."""
        return hold_key.hold_key(key, event_id, rule=self.key_rule, promise=self.promise)
