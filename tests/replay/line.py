"""A whole line for tests, in one thread: the real consumer kit on a real ledger, a real topic, intake's real store.

`deliver` is a source record reaching the consumer; `park_all` lets intake read what the consumer published; `serve`
lets the consumer read the replay topic. Nothing moves unless a test says so, so every crash and delay can be placed.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from parking import headers, wire
from parking.actor import Actor
from parking.consumer import Effect, Event, Poison, Retries, SqliteLedger
from parking.consumer import Flow as KitFlow
from parking.consumer.gate import Gate
from parking.consumer.outbox import Outbox
from parking.consumer.process import Process
from parking.consumer.step import Done, Step
from parking.coordinates import Coordinates
from parking.models import Amendment, Cluster, Decision, EventState, Flow, Quarantine, Team
from parking.record import Headers, Record
from parking.wire import Outcome, StillHeld, Wire
from replay import amend, approve, cancel, decide, plan, request, run, states
from replay.models import Replay
from tests.replay.reader import Reader
from tests.replay.store import Store

ANNE = Actor("user:1", "on-call engineer")
BORIS = Actor("user:2", "reviewer")
CARLA = Actor("user:3", "owner")
KEY = b"acct-1"
PARTITIONS = 3


class Line:
    def __init__(self, kafka: str, make_topic: Callable[..., str], folder: Path, **changes: object) -> None:
        self.flow = _flow(kafka, make_topic("replay", partitions=PARTITIONS), **changes)
        self.database = folder / f"{self.flow.name}.db"
        self.kafka = kafka
        self.make_topic = make_topic
        self.published: list[Wire] = []
        self.store = Store(self.flow)
        self.ledger = SqliteLedger(str(self.database))
        self.ledger.prepare()
        self._sql("CREATE TABLE effect (event_id TEXT, value BLOB, token INTEGER)")
        self.gate = Gate(self.kit(), self.ledger)
        self._outbox = Outbox(self.flow.name, self.ledger, self)
        self.process = Process(self.gate, self._outbox, self.handler, Retries(attempts=1))
        self.replayed: list[Record] = []
        self._reader = Reader(kafka, self.flow.replay_topic, group="line", partitions=PARTITIONS)
        self._offset = 0
        self._began = int(time.time() * 1000)

    # The consumer's side

    def kit(self) -> KitFlow:
        """The flow as its consumer knows it."""
        return KitFlow(
            name=self.flow.name,
            source_topic=self.flow.source_topic,
            parking_topic=self.flow.parking_topic,
            replay_topic=self.flow.replay_topic,
            consumer_group=self.flow.consumer_group,
            key_rule=self.flow.key_rule,
            promise=self.flow.promise,
        )

    def publish(self, hold_key: bytes, wire: Wire) -> None:
        """The kit's publisher: what a parking topic would take."""
        self.published.append(wire)

    def handler(self, event: Event) -> Effect:
        """Applies whatever does not start with `bad`."""
        if event.value is not None and event.value.startswith(b"bad"):
            raise Poison("the value is bad", error_type="InvalidValue")
        return self.write(event)

    def write(self, event: Event) -> Effect:
        """Applies whatever it is."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO effect VALUES (?, ?, ?)", (event.event_id, event.value, event.token))

        return Effect(write)

    def deliver(
        self, event_id: str, value: bytes | None = b"good", *, key: bytes | None = KEY, headers: Headers = ()
    ) -> None:
        """One record of the source topic reaches the consumer."""
        self.deliver_raw(value, (("event-id", event_id.encode()), *headers), key=key)

    def deliver_raw(self, value: bytes | None, headers: Headers, *, key: bytes | None = KEY) -> None:
        """A source record with exactly these headers."""
        record = Record(self.flow.source_topic, 0, self._offset, self._began + self._offset, key, value, headers)
        self._offset += 1
        self.process(record, time.sleep)

    def serve(self, most: int | None = None) -> list[Record]:
        """The consumer reads what is in the replay topic now (at most so many records) and answers."""
        records = self.read_replay_topic(most)
        for record in records:
            self.process(record, time.sleep)
        return records

    def read_replay_topic(self, most: int | None = None) -> list[Record]:
        """All new records that are in the replay topic now (at most so many), which the consumer has not answered."""
        found = self._reader.read(most)
        self.replayed += found
        return found

    def settle_work(self, step: Step) -> None:
        """What `process` does with a decision: publish what is due."""
        assert isinstance(step, Done)
        if step.hold_key is not None:
            self._outbox.publish(step.hold_key)
        if step.hold_key is not None and step.refusal is not None:
            self._outbox.refuse(step.hold_key, step.refusal)

    def backup(self) -> sqlite3.Connection:
        """The service's whole database as it is now."""
        copy = sqlite3.connect(":memory:")
        with sqlite3.connect(self.database) as connection:
            connection.backup(copy)
        return copy

    def restore(self, backup: sqlite3.Connection) -> None:
        """The service's database is put back to that time; its process was stopped meanwhile."""
        self.ledger.close()
        with sqlite3.connect(self.database) as connection:
            backup.backup(connection)

    def effects(self) -> list[tuple[str, bytes | None]]:
        """Event id and value of every effect, in the order in which they took effect."""
        return self._sql("SELECT event_id, value FROM effect ORDER BY rowid")

    # The console's side

    def park_all(self) -> None:
        """Intake reads everything that the consumer has published."""
        wires, self.published = self.published, []
        self.store.take(wires)

    def park(self, *event_ids: str, bad: int = 1) -> Quarantine:
        """Deliver and park these events of one key: the first `bad` ones fail (value `bad …`), the others are held."""
        for place, event_id in enumerate(event_ids):
            self.deliver(event_id, b"bad " + event_id.encode() if place < bad else b"good " + event_id.encode())
        self.park_all()
        return self.quarantine()

    def quarantine(self) -> Quarantine:
        """The newest quarantine of the flow."""
        return Quarantine.objects.select_related("flow", "hold_key").filter(flow=self.flow).latest("pk")

    def event(self, event_id: str) -> EventState:
        return EventState.objects.select_related("event").get(flow=self.flow, event__event_id=event_id)

    def decide(self, event_id: str, action: str = "skip", actor: Actor = ANNE) -> None:
        decide.decide(event_state_id=self.event(event_id).pk, action=action, reason="seen and decided", actor=actor)

    def request(self, actor: Actor = ANNE, follow: str = "follow") -> Replay:
        quarantine = self.quarantine()
        digest = plan.build(quarantine, follow=follow).digest
        return request.request(
            quarantine_id=quarantine.pk, digest=digest, actor=actor, reason="please replay", follow=follow
        )

    def approve(self, replay: Replay, actor: Actor = BORIS) -> Replay:
        return approve.approve(replay_id=replay.pk, digest=bytes(replay.digest), actor=actor, reason="looks right")

    def approved(self, follow: str = "follow") -> Replay:
        return self.approve(self.request(follow=follow))

    def reject(self, replay: Replay, actor: Actor = BORIS, reason: str = "not like this") -> Replay:
        return approve.reject(replay_id=replay.pk, actor=actor, reason=reason)

    def cancel(self, replay: Replay, actor: Actor = ANNE) -> Replay:
        return cancel.cancel(replay_id=replay.pk, actor=actor, reason="changed my mind")

    def amend(self, event_id: str, value: bytes | None, actor: Actor = ANNE) -> Amendment:
        """The next version of the event with this value."""
        event = self.event(event_id)
        return amend.amend(
            event_state_id=event.pk,
            value=value,
            headers=headers.unpack(event.payload.headers),
            actor=actor,
            reason="corrected",
            seen_version=event.amendments.count() + 1,
        )

    def decide_again(self, event_id: str, action: str, actor: Actor = ANNE) -> Decision:
        """Another decision by somebody who has seen the one before (the newest amendment for `amend`)."""
        event = self.event(event_id)
        newest = event.amendments.order_by("-version").first()
        return decide.decide(
            event_state_id=event.pk,
            action=action,
            reason="seen again",
            actor=actor,
            amendment_id=newest.pk if newest and action == "amend" else None,
            seen_decision_at=event.decision.at,
        )

    def held(self, event_id: str) -> StillHeld:
        """The event as a `still-held` names it."""
        event = self.event(event_id)
        return StillHeld(event_id, event.position, event.kind, Coordinates("", -1, -1))

    def change(self, **fields: object) -> None:
        """Change fields of the flow."""
        Flow.objects.filter(pk=self.flow.pk).update(**fields)
        self.flow.refresh_from_db()

    def tell(self, outcome: str, event_id: str | None = None, **fields: Any) -> None:
        """Intake reads an outcome that the consumer did not publish now: late, stale or of a restored ledger."""
        told = Outcome(outcome, self.flow.name, bytes(self.quarantine().hold_key.key), event_id)
        if event_id:
            told = replace(told, fingerprint=bytes(self.event(event_id).event.fingerprint))
        self.store.take([wire.outcome.encode(replace(told, **fields))])

    def wire_of_nobody(self) -> Wire:
        return Wire(b"k", b"{}", (("who", b"knows"),))

    def play_until(self, replay: Replay, state: str) -> Replay:
        """Worker, consumer and intake take turns until the replay is in that state."""
        return self.play(replay, until=lambda now: now.state == state)

    def play(
        self, replay: Replay, *, seconds: float = 240.0, until: Callable[[Replay], bool] = lambda _: False
    ) -> Replay:
        """Worker, consumer and intake take turns until the replay ends (or `until` says so)."""
        replay = again(replay)
        deadline = time.monotonic() + seconds
        while replay.state in states.DRIVEN and not until(replay) and time.monotonic() < deadline:
            run.advance(replay.pk, owner="test", seconds=0)
            self.serve()
            self.park_all()
            replay = again(replay)
        return replay

    def steps(self, replay: Replay) -> list[tuple[str, str]]:
        """Event id and state of each step."""
        return list(replay.steps.order_by("ordinal").values_list("event_state__event__event_id", "state"))

    def close(self) -> None:
        self._reader.close()
        self.ledger.close()

    def _sql(self, statement: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.database) as connection:
            return connection.execute(statement).fetchall()


def again(replay: Replay) -> Replay:
    """The replay as it is in the database now; a worker may look at it at once."""
    Replay.objects.filter(pk=replay.pk).update(due_at=None)
    return Replay.objects.get(pk=replay.pk)


def tick(replay: Replay) -> Replay:
    """A worker drives the replay until nothing moves any more; the replay as it is then."""
    run.advance(again(replay).pk, owner="test", seconds=60, patience=0.05)
    return again(replay)


@contextmanager
def line(kafka: str, make_topic: Callable[..., str], folder: Path, **changes: object) -> Iterator[Line]:
    """A line of its own: flow, topics, ledger. `changes` are fields of the flow."""
    made = Line(kafka, make_topic, folder, **changes)
    yield made
    made.close()


def _flow(kafka: str, replay_topic: str, **changes: object) -> Flow:
    name = replay_topic.replace("replay-", "flow-")
    cluster, _ = Cluster.objects.get_or_create(name="test", defaults={"bootstrap_servers": kafka})
    team, _ = Team.objects.get_or_create(name="team")
    fields = {
        "cluster": cluster,
        "team": team,
        "source_topic": f"{name}.source",
        "consumer_group": "service",
        "parking_topic": f"{name}.parking",
        "replay_topic": replay_topic,
        "outcome_timeout_seconds": 240,
        **changes,
    }
    return Flow.objects.create(name=name, **fields)
