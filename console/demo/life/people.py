"""What people do in the history, through the verbs that the pages call."""

from collections.abc import Mapping
from datetime import timedelta

from django.utils import timezone

from console.demo.life.cases import Case, Remedy
from parking import headers as packed
from parking import triage
from parking.actor import Actor
from parking.models import ErrorGroup, EventPayload, EventState, Quarantine
from parking.models.triage import of as triage_of
from replay import amend, approve, decide, plan, request
from replay.models import Replay

AGAIN = Remedy("apply", "tried again: the answer was only late")
"""For a held event that failed in a replay."""


class People:
    """`actors` by account name: oncall, reviewer, owner."""

    def __init__(self, actors: Mapping[str, Actor]) -> None:
        self.actors = actors

    def decide(self, case: Case) -> None:
        """On-call gives every poison event its remedy."""
        events = EventState.objects.unsettled(quarantine(case)).select_related("event")
        for event in events.filter(kind=EventState.Kind.POISON):
            remedy = case.remedies.get(event.event.event_id, AGAIN)
            if remedy.action != "amend":
                decide.decide(
                    event_state_id=event.pk, action=remedy.action, reason=remedy.reason, actor=self.actors["oncall"]
                )
                continue
            amend.amend(
                event_state_id=event.pk,
                value=remedy.value,
                headers=remedy.headers or packed.unpack(EventPayload.objects.get(pk=event.pk).headers),
                actor=self.actors["oncall"],
                reason=remedy.reason,
                seen_version=event.amendments.count() + 1,
            )

    def request(self, case: Case, reason: str) -> Replay:
        key = quarantine(case)
        digest = plan.build(key).digest
        return request.request(quarantine_id=key.pk, digest=digest, actor=self.actors["oncall"], reason=reason)

    def approve(self, case: Case, reason: str = "checked against the case file") -> None:
        replay = waiting(case)
        approve.approve(
            replay_id=replay.pk, digest=bytes(replay.digest), actor=self.actors["reviewer"], reason=reason,
            memory_confirmed=True,
        )  # fmt: skip

    def reject(self, case: Case, reason: str) -> None:
        approve.reject(replay_id=waiting(case).pk, actor=self.actors["reviewer"], reason=reason)

    def say(self, of: str, error_type: str, status: str, *, days: int = 0, version: str = "", **given: str) -> None:
        """Of the latest error of that flow and type: on-call says it, and is on it unless `owner` names another."""
        group = ErrorGroup.objects.filter(flow__name=of, error_type__contains=error_type).latest("last_seen")
        triage.triage(
            error_group_id=group.pk,
            status=status,
            until=timezone.now() + timedelta(days=days) if days else None,
            version=version,
            owner=self.actors[given.get("owner", "oncall")],
            note=given.get("note", ""),
            seen=triage_of(group).seen,
            actor=self.actors["oncall"],
            reason=given.get("reason", ""),
        )


def quarantine(case: Case) -> Quarantine:
    """The newest of the key."""
    keys = Quarantine.objects.filter(flow__name=case.flow, hold_key__key=case.key)
    return keys.select_related("hold_key", "flow").latest("pk")


def waiting(case: Case) -> Replay:
    """The replay that waits for approval."""
    return Replay.objects.get(quarantine=quarantine(case), state=Replay.State.REQUESTED)
