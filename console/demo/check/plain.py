"""One key of a flow without a gate: parked by Kafka Connect, mended, approved, sent back to its topic, believed."""

import json
import time
from random import Random

from console.demo.check.stage import Stage
from console.demo.plain.events import shipment
from parking import headers as packed
from parking.models import EventState, Flow, Quarantine
from replay import plan
from replay.amend import amend
from replay.approve import approve
from replay.models import Replay
from replay.request import request

FLOW = "shipments"


def go_back(stage: Stage) -> None:
    """Raises Deviation."""
    report, people = stage.report, stage.people
    report.chapter("Without a gate: a dead letter of Kafka Connect goes back to its topic")
    number = time.time_ns() // 1_000_000
    sent = shipment(Random(number), number, depot="HAM-9")  # noqa: S311 - made-up data
    stage.kafka.produce(FLOW, sent.value, sent.key, headers=list(sent.headers))
    stage.kafka.flush(20)
    flow = Flow.objects.get(name=FLOW)
    keys = Quarantine.objects.filter(flow=flow, hold_key__key=sent.key).select_related("hold_key", "flow")
    report.wait(f"{sent.key.decode()}: it is parked", keys.first, lambda key: key is not None)
    key = keys.get()
    event = EventState.objects.in_order(key).select_related("event", "payload").get()
    arrived = (event.event.dialect, event.event.error_type, bytes(event.payload.value or b""))
    expected = ("kafka-connect", "java.lang.IllegalStateException", sent.value)
    report.same("it is read as what Connect wrote", expected=expected, actual=arrived)
    value = json.dumps({**json.loads(sent.value), "depot": "HAM-2"}).encode()
    amend(
        event_state_id=event.pk, value=value, headers=packed.unpack(event.payload.headers), actor=people["oncall"],
        reason="HAM-9 was merged into HAM-2",
    )  # fmt: skip
    digest = plan.build(key).digest
    replay = request(quarantine_id=key.pk, digest=digest, actor=people["oncall"], reason="HAM-9 was merged into HAM-2")
    approve(replay_id=replay.pk, digest=digest, actor=people["reviewer"], reason="so says the depot")
    states = Replay.objects.filter(pk=replay.pk).values_list("state", "steps__state")
    report.wait_same(
        "the replay is completed: its consumer has committed past it and not parked it again",
        lambda: list(states.all()),
        [("completed", "applied")],
    )
    report.same("the key is released", expected="released", actual=keys.values_list("state", flat=True).get())
