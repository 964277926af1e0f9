"""Two robots who do what people do, through the verbs that the pages call: one decides and asks, the other approves.

They are sometimes wrong (a poison event is tried again as it is), so replays stop and are asked for anew.
"""

import json
from collections.abc import Callable
from random import Random
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, connection

from console.demo.check.everything import people
from console.demo.disputes.events import write
from parking.actor import Actor
from parking.errors import Refused
from parking.headers import unpack
from parking.models import Decision, EventState, Quarantine
from replay import plan
from replay.amend import amend
from replay.approve import approve, reject
from replay.decide import decide
from replay.models import Replay
from replay.request import request

AWAY = (DatabaseError, InterfaceError)
_Row = TypeVar("_Row")

SKIPPED, AS_IT_IS = 0.2, 0.1


def patient(work: Callable[[], None]) -> None:
    """Does it; a database that is away is waited for, and a refusal is part of the day."""
    try:
        work()
    except Refused:
        pass  # somebody was faster, or the plan has moved: the next round sees it
    except AWAY:
        connection.close()


class People:
    def __init__(self, flow: str, random: Random) -> None:
        self.flow = flow
        self.random = random
        self._actors: dict[str, Actor] = {}

    def round(self) -> None:
        """Everything that waits for a person, once."""
        patient(self._meet)
        for quarantine in self._ask(lambda: list(Quarantine.objects.filter(flow__name=self.flow, state="open")[:50])):
            patient(lambda: self._resolve(quarantine))  # noqa: B023 - called at once
        for replay in self._ask(lambda: list(Replay.objects.filter(state="requested")[:50])):
            patient(lambda: self._approve(replay))  # noqa: B023 - called at once

    def _meet(self) -> None:
        self._actors = self._actors or people()

    def _ask(self, look: Callable[[], list[_Row]]) -> list[_Row]:
        found: list[_Row] = []
        patient(lambda: found.extend(look()))
        return found

    def _resolve(self, quarantine: Quarantine) -> None:
        if Replay.objects.filter(quarantine=quarantine, state__in=("requested", "approved")).exists():
            return
        poison = EventState.objects.in_order(quarantine).filter(state="parked", kind="poison")
        for event in poison.select_related("payload"):
            self._decide(event)
        digest = plan.build(quarantine).digest
        request(quarantine_id=quarantine.pk, digest=digest, actor=self._actors["oncall"], reason="looked into")

    def _decide(self, event: EventState) -> None:
        """Anew after each failure: mostly right, sometimes skipped, sometimes as it is once more."""
        dice, mended = self.random.random(), _mended(bytes(event.payload.value or b""))
        if dice < SKIPPED or mended is None:
            self._say(event, "skip")
        elif dice < SKIPPED + AS_IT_IS:
            self._say(event, "apply")
        else:
            amend(
                event_state_id=event.pk,
                value=mended,
                headers=unpack(event.payload.headers),
                actor=self._actors["oncall"],
                reason="mended",
                seen_version=event.amendments.count() + 1,
            )

    def _say(self, event: EventState, action: str) -> None:
        seen = Decision.objects.filter(event_state=event).first()
        decide(
            event_state_id=event.pk,
            action=action,
            actor=self._actors["oncall"],
            reason="by the book",
            seen_decision_at=seen.at if seen else None,
        )

    def _approve(self, replay: Replay) -> None:
        """Or rejects what cannot run: late answers may have settled a part of it. It is asked for anew then."""
        reviewer = self._actors["reviewer"]
        try:
            approve(replay_id=replay.pk, digest=bytes(replay.digest), actor=reviewer, reason="agreed")
        except Refused as refused:
            reject(replay_id=replay.pk, actor=reviewer, reason=str(refused))


def _mended(value: bytes) -> bytes | None:
    """The event with the evidence that it should have had; None where it is not even JSON."""
    try:
        return write(json.loads(value) | {"evidence": "receipt"})
    except (ValueError, TypeError):
        return None
