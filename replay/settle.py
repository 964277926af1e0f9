"""Outcomes become states of steps.

Facts settle events whoever caused them (intake does that at once); here the steps that are sent and unanswered are
compared with what the consumer said. They are looked up by event, never by a cursor alone: two intakes commit in any
order, and an id that becomes visible late must not be lost.
"""

from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from parking import journal, storable
from parking.models import Outcome
from replay import states
from replay.end import WORKER, conflict
from replay.models import Replay, Step
from replay.verdict import FACTS, NO_ATTEMPT, Answer, Verdict, judge

LATEST = "SELECT coalesce(max(id), 0) FROM parking_outcome WHERE flow_id = %s AND hold_key_digest = %s"


def settle(replay: Replay) -> list[tuple[Step, Verdict]]:
    """Give every sent step the state that its outcomes say; which ones. The replay's row is locked by the caller."""
    sent = list(replay.steps.filter(state__in=states.SENT).select_related("event_state"))
    answers = _answers(replay, sent)
    verdicts = ((step, _first(replay, step, answers.get(bytes(step.event_state.event_digest), []))) for step in sent)
    found = [(step, verdict) for step, verdict in verdicts if verdict]
    if found:
        record([(step.pk, verdict) for step, verdict in found])
    return found


def settle_ended(replay_id: int) -> int:
    """Let evidence that comes after the end still move `unconfirmed` steps; how many moved."""
    with transaction.atomic():
        rows = Replay.objects.select_for_update(of=("self",)).select_related("flow", "quarantine__hold_key")
        replay = rows.get(pk=replay_id)
        found = settle(replay)
        if any(verdict.state == "conflict" for _, verdict in found):
            conflict(replay)
        for step, verdict in found:
            _tell(replay, step, verdict)
        return len(found)


def record(verdicts: Sequence[tuple[int, Verdict]]) -> int:
    """Write states by compare-and-swap, all in one statement (STORE: one by one costs fifty times as much)."""
    ids, new, reasons, outcomes = zip(
        *((pk, verdict.state, verdict.reason, verdict.outcome_id or None) for pk, verdict in verdicts), strict=True
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE replay_step AS step SET state = new.state, reason = new.reason, outcome_id = new.outcome_id,"
            " settled_at = %s FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::bigint[])"
            " AS new (id, state, reason, outcome_id)"
            " WHERE step.id = new.id AND step.state = ANY(%s) AND step.state <> new.state",
            [timezone.now(), list(ids), list(new), list(reasons), list(outcomes), list(states.SENT)],
        )
        return int(cursor.rowcount)


def latest_outcome(replay: Replay) -> int:
    """The highest id of an outcome for the replay's key, 0 if there is none."""
    with connection.cursor() as cursor:
        cursor.execute(LATEST, [replay.flow_id, bytes(replay.quarantine.hold_key.digest)])
        return int(cursor.fetchone()[0])


def _answers(replay: Replay, sent: Sequence[Step]) -> dict[bytes, list[Answer]]:
    rows = Outcome.objects.filter(
        flow_id=replay.flow_id,
        event_digest__in=[bytes(step.event_state.event_digest) for step in sent],
        id__gt=replay.outcomes_from,
    ).order_by("id")
    answers: dict[bytes, list[Answer]] = {}
    for row in rows if sent else ():
        answers.setdefault(bytes(row.event_digest or b""), []).append(_answer(row))
    return answers


def _answer(row: Outcome) -> Answer:
    return Answer(
        id=row.pk,
        outcome=row.outcome,
        token=row.token,
        fate_token=row.fate_token,
        fingerprint=None if row.fingerprint is None else bytes(row.fingerprint),
        detail=_detail(row),
    )


def _detail(row: Outcome) -> str:
    """What the consumer adds. Of a failure only the error's type: its message may hold parts of the payload."""
    evidence = row.evidence if isinstance(row.evidence, dict) else {}
    if row.outcome == "failed":
        tries: list[Any] = row.attempts if isinstance(row.attempts, list) else []
        last = tries[-1] if tries and isinstance(tries[-1], dict) else {}
        return storable.text(str(last.get("error_type") or ""))
    if row.outcome in NO_ATTEMPT:
        first = evidence.get("first_held") if row.outcome == "out-of-order" else evidence.get("reason")
        return storable.text(str(first or ""))
    if row.outcome == "fenced":
        return f"the floor is {evidence.get('floor')}" if isinstance(evidence.get("floor"), int) else ""
    return ""


def _first(replay: Replay, step: Step, answers: Sequence[Answer]) -> Verdict | None:
    """The verdict of the first answer that is about the step. A fact goes before everything else: it is final."""
    event = step.event_state
    known = (event.state, bytes(event.fate_fingerprint or b"")) if event.state in FACTS else None
    facts_first = sorted(answers, key=lambda answer: (answer.outcome not in FACTS, answer.id))
    verdicts = (
        judge(
            action=step.action,
            fingerprint=bytes(step.fingerprint),
            token=replay.token or 0,
            answer=answer,
            known=known,
        )
        for answer in facts_first
    )
    return next((verdict for verdict in verdicts if verdict), None)


def _tell(replay: Replay, step: Step, verdict: Verdict) -> None:
    journal.write(
        actor=WORKER,
        verb="late outcome",
        flow=replay.flow,
        quarantine_id=replay.quarantine_id,
        event_id=step.event_state_id,
        replay_id=replay.pk,
        reason=verdict.reason,
        detail={"step": step.ordinal, "state": verdict.state},
    )
