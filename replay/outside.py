"""What can be seen from outside of a consumer without a gate, and what is believed by it (DESIGN section 5).

After a step is sent: the group commits past its offset (`passed`); when a failure could not be parked any later, the
parking topic's ends are noted (`parking_ends`); when intake has read that far and the event is not parked again, it is
believed to be applied. A failure is dead-lettered before its offset is committed, so it stands before those ends.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from parking import infer, journal, progress
from parking.errors import Refused
from parking.models import Attempt, Flow, IntakePosition, PendingRetry, TopicIncarnation
from parking.topics import Unreachable
from replay import settle as steps_of
from replay import states
from replay.end import WORKER
from replay.models import Replay, Step
from replay.targets import topic
from replay.verdict import Verdict
from replay.verdict import infer as verdict_of

PATIENCE = timedelta(seconds=3)
CLOCKS = timedelta(minutes=1)
"""How far the clocks of a broker and of ours may be apart."""
LATE_EVERY = 30.0
LATE_FOR = timedelta(days=7)
MOST_LATE = 20

Evidence = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """New evidence by id of the step, and what keeps a replay from going on (empty: nothing)."""

    evidence: Mapping[int, Evidence] = field(default_factory=dict)
    waiting_for: str = ""


NOTHING = Seen()


def look(replay_id: int) -> Seen:
    """Ask Kafka about a replay without a gate, before its row is locked; nothing for one with the gate."""
    rows = Replay.objects.filter(pk=replay_id, flow__target=Flow.Target.PLAIN).select_related("flow__cluster")
    replay = rows.first()
    if replay is None:
        return NOTHING
    sent = list(replay.steps.filter(state__in=states.SENT))
    try:
        if not sent and replay.state == Replay.State.RUNNING:
            topic.read(replay.flow.cluster, replay.flow.replays_to)
        return Seen(_evidence(replay.flow, sent))
    except (Refused, Unreachable) as error:
        return Seen(waiting_for=str(error))


def remember(steps: Iterable[Step]) -> None:
    """Before they are sent: what is known already is no sign of a failure after it."""
    for step in steps:
        step.evidence = {"live_attempts": _live_attempts(step)}
        step.save(update_fields=["evidence"])


def settle(replay: Replay, seen: Seen) -> bool:
    """Give every sent step the state that can be believed, and its event with it; whether anything moved.

    The replay's row is locked by the caller.
    """
    moved = False
    for step in replay.steps.filter(state__in=states.SENT).select_related("event_state__event"):
        if step.pk in seen.evidence:
            step.evidence = seen.evidence[step.pk]
            step.save(update_fields=["evidence"])
        verdict = _verdict(replay, step)
        if verdict:
            _believe(replay, step, verdict)
            moved = True
    return moved


def settle_late() -> int:
    """Let later evidence move `unconfirmed` steps of replays that have ended; how many moved. Now and then only."""
    if time.monotonic() - _looked[0] < LATE_EVERY:
        return 0
    _looked[0] = time.monotonic()
    unconfirmed = Q(steps__state="unconfirmed", state__in=states.TERMINAL, finished_at__gt=timezone.now() - LATE_FOR)
    ended = Replay.objects.filter(unconfirmed, flow__target=Flow.Target.PLAIN).distinct().order_by("-pk")
    moved = 0
    for replay_id in ended.values_list("pk", flat=True)[:MOST_LATE]:
        seen = look(replay_id)
        if seen.waiting_for:
            break  # watch has other things to do than to wait for a cluster that is away
        moved += _settle_ended(replay_id, seen)
    return moved


_looked = [-LATE_EVERY]


def _settle_ended(replay_id: int, seen: Seen) -> int:
    with transaction.atomic():
        rows = Replay.objects.select_for_update(of=("self",)).select_related("flow", "quarantine__hold_key")
        replay = rows.get(pk=replay_id)
        moved = settle(replay, seen)
        if moved:
            journal.write(
                actor=WORKER,
                verb="late outcome",
                flow=replay.flow,
                quarantine_id=replay.quarantine_id,
                replay_id=replay.pk,
            )
        return int(moved)


def _evidence(flow: Flow, sent: Iterable[Step]) -> dict[int, Evidence]:
    found = ((step.pk, _more(flow, step, dict(step.evidence or {}))) for step in sent if step.sent_offset is not None)
    return {pk: evidence for pk, evidence in found if evidence}


def _more(flow: Flow, step: Step, evidence: Evidence) -> Evidence | None:
    """The evidence with what Kafka says now; None if that is nothing new. Raises Unreachable."""
    before = dict(evidence)
    settings = flow.cluster.client_settings
    if "passed" not in evidence:
        place = flow.replays_to, step.sent_partition or 0
        committed = progress.committed(settings, flow.consumer_group, *place)
        if committed is not None and committed > (step.sent_offset or 0):
            evidence |= {"sent": f"{place[0]}/{place[1]}/{step.sent_offset}", "committed": committed}
            evidence |= {"group": flow.consumer_group, "passed": timezone.now().isoformat()}
    if "passed" in evidence and "parking_ends" not in evidence and _late_enough(flow, evidence):
        evidence["parking_ends"] = _ends(flow)
        evidence["noted"] = timezone.now().isoformat()
    elif "parking_ends" in evidence and timezone.now() >= datetime.fromisoformat(evidence["noted"]) + PATIENCE:
        evidence["parking_ends"] = _readable(flow, evidence["parking_ends"])
        evidence["noted"] = timezone.now().isoformat()
    return evidence if evidence != before else None


def _ends(flow: Flow) -> dict[str, int]:
    """`topic/partition` → where it ends, of all topics that the flow parks or waits on. Raises Unreachable."""
    found = progress.ends(flow.cluster.client_settings, flow.read_topics)
    return {f"{name}/{number}": end for (name, number), end in sorted(found.items())}


def _read_to(flow: Flow) -> dict[str, int]:
    """`topic/partition` → how far intake has read it."""
    lives = TopicIncarnation.objects.newest_of(flow)
    rows = IntakePosition.objects.filter(topic__in=lives).values_list("topic__name", "partition", "next_offset")
    return {f"{name}/{number}": offset for name, number, offset in rows}


def _readable(flow: Flow, ends: Mapping[str, int]) -> dict[str, int]:
    """The ends, where only the marks of transactions stand between intake and an end: where intake is."""
    read_to = _read_to(flow)
    found = {}
    for name, end in ends.items():
        (topic, _, partition), start = name.rpartition("/"), read_to.get(name, 0)
        is_behind = start < end and name in read_to
        reached = is_behind and progress.nothing_from(flow.cluster.client_settings, topic, int(partition), start, end)
        found[name] = start if reached else end
    return found


def _late_enough(flow: Flow, evidence: Evidence) -> bool:
    passed = datetime.fromisoformat(evidence["passed"])
    return timezone.now() >= passed + timedelta(seconds=flow.settle_after_seconds)


def _verdict(replay: Replay, step: Step) -> Verdict | None:
    """How far intake is is read first: what it has stored up to there is then seen by what is read after."""
    ends = (step.evidence or {}).get("parking_ends")
    read_to = _read_to(replay.flow) if ends else {}
    step.event_state.refresh_from_db()
    if step.event_state.state != "parked":
        return _settled_before(step)
    again = _parked_again(replay, step)
    if again is None and _waits(step):
        return None
    return verdict_of(action=step.action, parked_again=again, ends=ends, read_to=read_to)


def _settled_before(step: Step) -> Verdict:
    """Late evidence of another replay has settled the event meanwhile."""
    planned = "skipped" if step.action == Step.Action.SKIP else "applied"
    state = step.event_state.state
    return Verdict("duplicate" if state == planned else "conflict", f"was {state} before", 0)


def _parked_again(replay: Replay, step: Step) -> str | None:
    """The error type of the failure after the step was sent; also of one that does not say which try failed."""
    of_this = Attempt.objects.filter(event_state_id=step.event_state_id, token=replay.token or -1).last()
    if of_this is None and _live_attempts(step) > (step.evidence or {}).get("live_attempts", 0):
        of_this = Attempt.objects.filter(event_state_id=step.event_state_id, token=0).last()
    return None if of_this is None else of_this.error_type


def _waits(step: Step) -> bool:
    """Whether the event failed and waits on a retry topic that is watched: its next try decides."""
    state, since = step.event_state, (step.sent_at or timezone.now()) - CLOCKS
    waiting = PendingRetry.objects.waiting(timezone.now()).filter(flow_id=state.flow_id, arrived_at__gte=since)
    return waiting.filter(event_digest=bytes(state.event_digest)).exists()


def _live_attempts(step: Step) -> int:
    return Attempt.objects.filter(event_state_id=step.event_state_id, token=0).count()


def _believe(replay: Replay, step: Step, verdict: Verdict) -> None:
    steps_of.record([(step.pk, verdict)])
    if verdict.state in ("applied", "skipped"):
        infer.infer(
            event_state_id=step.event_state_id,
            state=verdict.state,
            token=replay.token or 0,
            replay_id=replay.pk,
            evidence=step.evidence or {},
            actor=WORKER,
            fingerprint=bytes(step.fingerprint),
        )
