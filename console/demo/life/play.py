"""An approved replay from start to end, with an imagined consumer: nothing is sent, the rest is the worker's code."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from console.demo.life import disputes
from console.demo.life.arrivals import Arrivals, Parked, milliseconds
from console.demo.life.cases import Case
from console.demo.life.clock import Clock
from console.demo.life.people import quarantine
from console.demo.plain.failures import SERVICES, parked
from parking import headers as packed
from parking import infer
from parking.attempt import Attempt
from parking.record import Record
from parking.wire import names
from replay import lease as leases
from replay import release, sending, settle, start
from replay.end import WORKER, because, end
from replay.models import Replay, Step
from replay.verdict import Verdict

PACE = timedelta(milliseconds=200)
FAILED = ("InvalidDecision", "The decision did not pass validation: 1 error.")


class Player:
    """Drives replays. A step whose ordinal is `fails_at` fails, and the replay stops there."""

    def __init__(self, arrivals: Arrivals, clock: Clock) -> None:
        self._arrivals, self._clock = arrivals, clock

    def play(self, case: Case, *, fails_at: int = 0) -> None:
        replay, lease = self._started(case)
        step_by_step = self._by_answers if replay.flow.gated else self._by_inference
        culprit = step_by_step(replay, case, fails_at)
        self._pass()
        if culprit is not None:
            with transaction.atomic():
                culprit.refresh_from_db()
                end(replay, "stopped", reason=because(culprit), step=culprit)
        else:
            self._release(replay, case)
        leases.give_back(lease, due_in=None)

    def begin(self, case: Case, *, answered: int) -> None:
        """Start it, and leave it running with so many steps settled and the next one sent."""
        replay, lease = self._started(case)
        *done, _ = self._sent(replay, answered + 1)
        answers = []
        for step in done:
            self._pass()
            answers.append(self._fact(replay, case, step))
        self._arrivals.take(answers)
        with transaction.atomic():
            settle.settle(replay)
        leases.give_back(lease, due_in=None)

    def _started(self, case: Case) -> tuple[Replay, leases.Lease]:
        replay = Replay.objects.get(quarantine=quarantine(case), state=Replay.State.APPROVED)
        lease = leases.take(replay.pk, "history")
        assert lease is not None
        start.start(lease)
        Replay.objects.filter(pk=replay.pk).update(started_at=timezone.now())  # it had taken the database's clock
        return Replay.objects.select_related("flow", "quarantine__hold_key").get(pk=replay.pk), lease

    def _pass(self, time: timedelta = PACE) -> None:
        self._clock.set(self._clock.now + time)

    def _sent(self, replay: Replay, fails_at: int) -> list[Step]:
        """The steps, as far as they are sent."""
        steps = list(replay.steps.select_related("event_state__event").order_by("ordinal"))[: fails_at or None]
        with transaction.atomic():
            sending.record(steps)
            Step.objects.filter(pk__in=[step.pk for step in steps]).update(acked_at=timezone.now())
        return steps

    # With the gate: the consumer answers

    def _by_answers(self, replay: Replay, case: Case, fails_at: int) -> Step | None:
        steps = self._sent(replay, fails_at)
        answers = []
        for step in steps:
            self._pass()
            failed = step.ordinal == fails_at
            answers.append(self._failure(replay, case, step) if failed else self._fact(replay, case, step))
        self._arrivals.take(answers)
        with transaction.atomic():
            settle.settle(replay)
        return steps[-1] if fails_at else None

    def _fact(self, replay: Replay, case: Case, step: Step) -> Parked:
        return disputes.answer(
            "skipped" if step.action == Step.Action.SKIP else "applied",
            case.key,
            self._clock.now,
            event_id=step.event_state.event.event_id,
            position=step.position,
            token=replay.token,
            replay_id=str(replay.pk),
            fate_token=replay.token,
            fingerprint=bytes(step.fingerprint),
        )

    def _failure(self, replay: Replay, case: Case, step: Step) -> Parked:
        number = step.event_state.attempt_count + 1
        tried = Attempt(number, milliseconds(self._clock.now), *FAILED, f"{FAILED[0]}: {FAILED[1]}", (), True)
        return disputes.answer(
            "failed",
            case.key,
            self._clock.now,
            event_id=step.event_state.event.event_id,
            position=step.position,
            token=replay.token,
            replay_id=str(replay.pk),
            attempts=(tried,),
        )

    def _release(self, replay: Replay, case: Case) -> None:
        with transaction.atomic():
            release.begin(replay)
            if not replay.flow.gated:
                end(replay, "completed")
                return
            release.record(replay)
            Replay.objects.filter(pk=replay.pk).update(release_acked_at=timezone.now())
        self._pass()
        position = milliseconds(self._clock.now)
        told = disputes.answer(
            "released", case.key, self._clock.now, token=replay.token, replay_id=str(replay.pk), position=position
        )
        self._arrivals.take([told])
        with transaction.atomic():
            replay.refresh_from_db()
            answer = release.answer_of(replay)
            assert answer is not None
            release.take(replay, answer)

    # Without: it commits, or parks again

    def _by_inference(self, replay: Replay, case: Case, fails_at: int) -> Step | None:
        steps = self._sent(replay, fails_at)
        for step in steps:
            self._pass()
            if step.ordinal == fails_at:
                self._arrivals.take([self._parked_again(replay, step)])
                reason = f"parked again: {step.event_state.event.error_type}"
                settle.record([(step.pk, Verdict("failed", reason, 0))])
                return step
            with transaction.atomic():
                self._believed(replay, step)
        return None

    def _parked_again(self, replay: Replay, step: Step) -> Parked:
        payload, event = step.event_state.payload, step.event_state.event
        service = SERVICES[replay.flow.name]
        own = ((names.EVENT_ID, event.event_id), (names.REPLAY_ID, replay.pk), (names.TOKEN, replay.token))
        record = Record(
            replay.flow.source_topic,
            event.source_partition or 0,
            (event.source_offset or 0) + 700,
            milliseconds(self._clock.now),
            None if payload.key is None else bytes(payload.key),
            None if payload.value is None else bytes(payload.value),
            (*packed.unpack(payload.headers), *((name, str(value).encode()) for name, value in own)),
        )
        fault = service.fault(record.value)
        assert fault is not None
        return Parked(replay.flow.name, self._clock.now, parked(service, record, fault))

    def _believed(self, replay: Replay, step: Step) -> None:
        word = "skipped" if step.action == Step.Action.SKIP else "applied"
        settle.record([(step.pk, Verdict(word, "inferred: committed past, and not parked again", 0))])
        infer.infer(
            event_state_id=step.event_state_id,
            state=word,
            token=replay.token or 0,
            replay_id=replay.pk,
            evidence={"group": replay.flow.consumer_group, "passed": timezone.now().isoformat()},
            actor=WORKER,
            fingerprint=bytes(step.fingerprint),
        )
