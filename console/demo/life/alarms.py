"""The alarms of the history: their rules, looked at from time to time as watch does, and who acknowledged."""

import os
from collections.abc import Iterable, Mapping

from parking import alarms
from parking.actor import Actor
from parking.alarms.acknowledge import acknowledge
from parking.alarms.rules import change_rule
from parking.beat import beat
from parking.models import AlarmRule, Beat, Flow, Incident

DEEP, NOT_SO_DEEP = 30, 20
OLD, NOT_SO_OLD = 4 * 3600, 3 * 3600
PROCESS = "intake"


class Alarms:
    def __init__(self, known: Iterable[Flow], actors: Mapping[str, Actor]) -> None:
        self._flows, self._actors = list(known), actors

    def begin(self) -> None:
        """The owner sets the thresholds; intake gives signs of life from now on."""
        for flow in self._flows:
            for rule in AlarmRule.objects.filter(flow=flow).order_by("measure"):
                deep = rule.measure == AlarmRule.Measure.DEPTH
                change_rule(
                    rule_id=rule.pk,
                    threshold=DEEP if deep else OLD,
                    for_seconds=0,
                    resolve_at=NOT_SO_DEEP if deep else NOT_SO_OLD,
                    resolve_for_seconds=120,
                    severity="critical" if deep else "warning",
                    enabled=True,
                    actor=self._actors["owner"],
                    reason="as agreed with on-call",
                )
        beat(PROCESS, "history")

    def look(self) -> None:
        alarms.evaluate()

    def acknowledge(self, flow: str, said: str) -> None:
        incident = Incident.objects.unresolved().get(flow__name=flow, kind="depth")
        acknowledge(incident_id=incident.pk, actor=self._actors["oncall"], reason=said)

    def end(self) -> None:
        """The sign of life was this process's: it ends here."""
        alarms.evaluate()
        Beat.objects.filter(process=PROCESS, pid=os.getpid()).delete()
