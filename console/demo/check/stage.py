"""What the check has at hand: a producer, the people, one `Key` for each account that it follows."""

from dataclasses import dataclass, field
from functools import cached_property

from confluent_kafka import Producer

from console.demo.check import seen
from console.demo.check.report import Report
from console.demo.disputes import producer
from console.demo.disputes.stories import Message, Sender
from parking.actor import Actor
from parking.errors import Refused
from parking.fingerprint import fingerprint
from parking.models import EventState, Flow, Quarantine
from parking.record import Headers
from replay import plan
from replay.approve import approve
from replay.models import Replay
from replay.request import request

NEVER_ACTED = "unsent or fenced"  # a step behind a failure: how far the window had got does not matter


@dataclass
class Stage:
    """Where the check plays. `accounts` are people by name; `database_url` is the sample service's own database."""

    report: Report
    kafka: Producer
    sender: Sender
    database_url: str
    people: dict[str, Actor]

    @cached_property
    def flow(self) -> Flow:
        return Flow.objects.get(name="disputes")


@dataclass
class Key:
    """One account that the check follows, and everything it sent for it."""

    stage: Stage
    account: str
    sent: list[Message] = field(default_factory=list)

    def send(self, *messages: Message) -> None:
        self.sent += messages
        producer.send(self.stage.kafka, messages)
        self.stage.kafka.flush(20)

    def event(self, event_type: str, **changed: object) -> Message:
        """Send an event of this account, right except for the members that are given."""
        message = self.stage.sender.event(event_type, self.account, **changed)
        self.send(message)
        return message

    @property
    def quarantine(self) -> Quarantine | None:
        """The newest, released or not."""
        keys = Quarantine.objects.filter(flow=self.stage.flow, hold_key__key=self.account.encode())
        return keys.select_related("hold_key", "flow").order_by("-pk").first()

    def state(self) -> str:
        """The quarantine's state; empty if there is none."""
        quarantine = self.quarantine
        return quarantine.state if quarantine else ""

    def track(self) -> list[tuple[str, str, str]]:
        """Event id, kind and state of each event of the quarantine, in its order."""
        quarantine = self.quarantine
        events = EventState.objects.in_order(quarantine).select_related("event") if quarantine else []
        return [(event.event.event_id, event.kind, event.state) for event in events]

    def event_state(self, event_id: str) -> EventState:
        return EventState.objects.select_related("event", "payload").get(flow=self.stage.flow, event__event_id=event_id)

    def effects(self) -> list[tuple[str, str]]:
        """Event id and fingerprint (hex) of each effect on this account, in the order in which they were written."""
        written = seen.effects(self.stage.database_url, accounts=[self.account])
        return [(effect.event_id, effect.fingerprint.hex()) for effect in written]

    def wait_track(self, what: str, *expected: tuple[Message | str, str, str]) -> None:
        """Wait until the quarantine has exactly these events: message or event id, kind, state."""
        rows = [(one if isinstance(one, str) else one.event_id, kind, state) for one, kind, state in expected]
        self.stage.report.wait_same(f"{self.account}: {what}", self.track, rows)

    def wait_effects(self, what: str, *expected: Message) -> None:
        """Wait until the service has exactly these effects, in this order, with exactly these bytes."""
        rows = [(message.event_id, digest(message)) for message in expected]
        self.stage.report.wait_same(f"{self.account}: {what}", self.effects, rows)

    def wait_state(self, expected: str) -> None:
        self.stage.report.wait_same(f"{self.account}: the quarantine is {expected}", self.state, expected)

    def request(self, who: str, reason: str) -> Replay:
        """Ask for a replay of what is decided now."""
        quarantine = self.quarantine
        if quarantine is None:
            raise Refused(f"{self.account} has no quarantine")
        digest = plan.build(quarantine).digest
        return request(quarantine_id=quarantine.pk, digest=digest, actor=self.stage.people[who], reason=reason)

    def approve(self, replay: Replay, who: str, reason: str = "checked against the case file") -> None:
        approve(replay_id=replay.pk, digest=bytes(replay.digest), actor=self.stage.people[who], reason=reason)

    def replay_state(self, replay: Replay) -> str:
        return Replay.objects.values_list("state", flat=True).get(pk=replay.pk)

    def wait_replay(self, replay: Replay, expected: str, *steps: str) -> None:
        """Wait until the replay is in this state, with steps in these; `unsent or fenced` is either of the two."""
        report = self.stage.report
        report.wait_same(f"{self.account}: the replay is {expected}", lambda: self.replay_state(replay), expected)
        states = list(replay.steps.order_by("ordinal").values_list("state", flat=True))
        states = [NEVER_ACTED if NEVER_ACTED in steps and state in ("pending", "fenced") else state for state in states]
        report.same(f"{self.account}: its steps are {', '.join(steps)}", expected=list(steps), actual=states)


def digest(message: Message) -> str:
    return fingerprint(message.key, message.value, headers(message)).hex()


def headers(message: Message) -> Headers:
    return tuple((name, value.encode() if isinstance(value, str) else value) for name, value in message.headers)
