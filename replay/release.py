"""The release marker and the consumer's answer: the consumer alone decides whether the key opens."""

from datetime import datetime, timedelta

from django.db.models import F, Q
from django.utils import timezone

from parking import journal
from parking.models import EventState, Outcome
from replay import follow, sending, settle, states, targets
from replay import lease as leases
from replay.end import WORKER, end
from replay.follow import RESTORED
from replay.lease import Lease
from replay.models import Replay

ANSWERS = ("released", "still-held", "fenced", "refused")


def begin(replay: Replay) -> None:
    """All steps are done: `running → releasing`."""
    states.move(Replay.objects.filter(pk=replay.pk), "releasing", moves=states.REPLAY, waiting_for="")


def answer_of(replay: Replay) -> Outcome | None:
    """The newest answer to the marker that was sent last; None as long as there is none."""
    if replay.release_sent_at is None:
        return None
    answers = Outcome.objects.filter(
        flow_id=replay.flow_id,
        hold_key_digest=bytes(replay.quarantine.hold_key.digest),
        event_digest__isnull=True,
        token=replay.token,
        outcome__in=ANSWERS,
        id__gt=replay.outcome_cursor,
    )
    return answers.order_by("-id").first()


def marker_due(replay: Replay, now: datetime) -> bool:
    """Whether the marker has to be sent: for the first time, because nobody knows whether it was, or once more."""
    if replay.release_sent_at is None or replay.release_acked_at is None:
        return True
    return replay.release_sends < sending.MOST_SENDS and overdue(replay, now)


def overdue(replay: Replay, now: datetime) -> bool:
    timeout = timedelta(seconds=replay.flow.outcome_timeout_seconds)
    return replay.release_sent_at is not None and replay.release_sent_at + timeout <= now


def record(replay: Replay) -> None:
    """Record that the marker is about to be sent, and which outcomes cannot be its answer."""
    again = replay.release_sent_at is not None
    counted = 0 if again and replay.release_acked_at is None else 1
    Replay.objects.filter(pk=replay.pk).update(
        release_sent_at=timezone.now(),
        release_acked_at=None,
        release_sends=F("release_sends") + counted,
        outcome_cursor=replay.outcome_cursor if again else settle.latest_outcome(replay),
    )


def send(lease: Lease, replay: Replay) -> str:
    """Send the recorded marker; why it is not acknowledged, empty if it is. Raises LeaseLost."""
    seconds = sending.seconds_to_send(lease)
    if seconds <= 0:
        return "the worker's lease is nearly over"
    delivery = targets.of(replay.flow).release(replay, largest=replay.largest or 0, seconds=seconds)
    with leases.held(lease) as now:
        if delivery.acked:
            Replay.objects.filter(pk=now.pk).update(release_acked_at=timezone.now())
        elif delivery.refused and now.state == Replay.State.RELEASING:
            end(now, "stopped", reason=f"The release marker was not sent: {delivery.refused}.")
    return sending.why_unknown([delivery])


def take(replay: Replay, answer: Outcome) -> str:
    """Do what the answer says, in the caller's transaction; what is waited for, empty if something moved."""
    if answer.outcome == "released":
        _released(replay, answer)
    elif answer.outcome == "still-held":
        return _still_held(replay, answer)
    else:
        end(replay, "stopped", reason=f"The consumer answered the release marker with {answer.outcome}.")
    return ""


def no_answer(replay: Replay) -> None:
    """Sent twice and not answered: nobody knows whether the key is open."""
    seconds = replay.flow.outcome_timeout_seconds
    reason = (
        f"The consumer has not answered the release marker within {seconds} s, twice: whether the key is open is not "
        "known. If it is, its answer will say so; else ask for another replay."
    )
    end(replay, "stopped", reason=reason)


def _released(replay: Replay, answer: Outcome) -> None:
    if _not_exceeded(replay, answer):
        reason = f"{RESTORED}: it released the key at a position that does not exceed ours."
        end(replay, "stopped", reason=f"{reason} Hold the key again before anything else is replayed.", restored=True)
    else:
        end(replay, "completed")


def _not_exceeded(replay: Replay, answer: Outcome) -> bool:
    """Whether we know an event at or behind the released position that was announced before the release."""
    before = Q(event__parking_partition=answer.partition, event__parking_offset__lt=answer.offset)
    known = EventState.objects.filter(quarantine_id=replay.quarantine_id, position__gte=answer.position or 0)
    return known.filter(before | ~Q(state=EventState.State.PARKED)).exists()


def _still_held(replay: Replay, answer: Outcome) -> str:
    next_ones = follow.following(replay, answer)
    if next_ones.stop:
        end(replay, "stopped", reason=next_ones.stop, restored=next_ones.restored)
    elif next_ones.events:
        follow.add(replay, next_ones.events)
        states.move(
            Replay.objects.filter(pk=replay.pk),
            "running",
            moves=states.REPLAY,
            followed=F("followed") + len(next_ones.events),
            release_sent_at=None,
            release_acked_at=None,
            release_sends=0,
            waiting_for="",
        )
        _tell(replay, len(next_ones.events))
    return next_ones.waiting_for


def _tell(replay: Replay, count: int) -> None:
    journal.write(
        actor=WORKER,
        verb="follow",
        flow=replay.flow,
        quarantine_id=replay.quarantine_id,
        replay_id=replay.pk,
        reason="They were held while the replay ran, and its plan lets them follow.",
        detail={"events": count},
    )
