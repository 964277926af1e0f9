"""The life of four keys, from parked to released, while others go on."""

import json

from console.demo.check.report import Deviation
from console.demo.check.session import Person
from console.demo.check.stage import NEVER_ACTED, Key, Stage, headers
from console.demo.disputes.events import write
from console.demo.disputes.model import limited
from console.demo.disputes.stories import Message
from parking.errors import Refused
from parking.headers import unpack
from replay.amend import amend
from replay.approve import approve
from replay.decide import decide
from replay.models import Replay
from replay.pause import pause, resume

NOT_ALLOWED = (302, 403, 409, 422)


class Lives:
    """Each chapter goes on where the one before it ended."""

    def __init__(self, stage: Stage, *, first_account: int) -> None:
        self.stage = stage
        self.report = stage.report
        names = (f"acc-{first_account + number}" for number in range(5))
        self.long, self.unreadable, self.stubborn, self.double, self.other = (Key(stage, name) for name in names)
        self.copies: dict[str, Message] = {}

    def park(self) -> None:
        self.report.chapter("Parked: what fails stops its own key, and nothing else")
        one = self.long
        self.bad = one.event("ChargeDisputed", amount_cents="1200.00", reason="other")
        one.event("EvidenceAdded")
        self.unwanted = one.event("LimitChanged")
        self.bad_again = one.event("RefundRequested", reason="goodwill")
        one.event("EvidenceAdded")
        self.slow = [self._rate_limited(one), self._rate_limited(one)]
        text = b'{"account": "%b", "limit_cents": 120\x00\xff' % self.unreadable.account.encode()
        self.unreadable.send(self.stage.sender.message("LimitChanged", self.unreadable.account, text))
        self.unreadable.event("LimitChanged")
        self.stubborn.event("EvidenceAdded", evidence="fax")
        self._send_twice()
        self.other.event("EvidenceAdded")
        held = [(message, "held", "parked") for message in one.sent[1:]]
        one.wait_track("the poison event is the head, six are held behind it", (self.bad, "poison", "parked"), *held)
        self.unreadable.wait_track(
            "what cannot be read is poison",
            (self.unreadable.sent[0], "poison", "parked"),
            (self.unreadable.sent[1], "held", "parked"),
        )
        self.stubborn.wait_track("one event is poison", (self.stubborn.sent[0], "poison", "parked"))
        one.wait_effects("nothing took effect")
        self.other.wait_effects("the other key goes on", *self.other.sent)

    def _rate_limited(self, key: Key) -> Message:
        """Send an event about which the model has to be asked twice: it takes a second, which a pause can hit."""
        message = self.stage.sender.event("RefundRequested", key.account)
        while not limited(json.loads(message.value)):
            message = self.stage.sender.event("RefundRequested", key.account)
        key.send(message)
        return message

    def _send_twice(self) -> None:
        """The same event twice, and another event that wears its id."""
        key = self.double
        first = key.event("EvidenceAdded")
        key.send(first)
        key.send(first._replace(value=first.value.replace(b'"dsp-', b'"dsp-9')))

    def see(self, person: Person, stranger: Person) -> None:
        self.report.chapter("Seen: what stopped, why, and exactly what arrived")
        event = self.long.event_state(self.bad.event_id)
        errors = [
            (error["path"], error["expected"], error["actual"])
            for attempt in event.attempts.all()
            for error in attempt.validation_errors
        ]
        expected = [("/amount_cents", "integer", '"1200.00"'), ("/reason", "fraud, duplicate, not_received", '"other"')]
        self.report.same("validation errors say where, expected, arrived", expected=expected, actual=errors)
        for message in (*self.long.sent, *self.unreadable.sent):
            self._same_bytes(message)
        self.report.so(
            "key, value and headers of 9 events are stored byte for byte, in order, null and repeats included"
        )
        self._conflict_is_seen()
        self._pages(person, stranger, event.pk)

    def _same_bytes(self, message: Message) -> None:
        payload = self.long.event_state(message.event_id).payload
        arrived = (bytes(payload.key or b""), bytes(payload.value or b""), unpack(payload.headers))
        if arrived != (message.key, message.value, headers(message)):
            raise Deviation(f"{message.event_id}: expected {message!r}, found {arrived!r}")

    def _conflict_is_seen(self) -> None:
        first = self.double.sent[0]
        self.double.wait_effects("what came twice took effect once", first)
        (row,) = self.report.wait(
            f"{self.double.account}: another event of the same id is poison under an id of its own",
            self.double.track,
            lambda track: len(track) == 1 and track[0][0].startswith(f"{first.event_id}#disputes/"),
        )
        self.conflicting_id = row[0]

    def _pages(self, person: Person, stranger: Person, event_id: int) -> None:
        quarantine = self.long.quarantine
        path = f"/keys/{quarantine.pk}" if quarantine else "/keys"
        page = person.get(path)
        self.report.same(f"{path}: status of the page", expected=200, actual=page.status_code)
        self.report.same(f"{path}: names the key", expected=True, actual=self.long.account in page.text)
        page = person.get(f"/events/{event_id}")
        self.report.same(
            f"/events/{event_id}: says where it is wrong", expected=True, actual="/amount_cents" in page.text
        )
        page = stranger.get(path)
        self.report.same(
            f"{path}: without signing in nothing is seen", expected=False, actual=self.long.account in page.text
        )

    def decide(self) -> None:
        self.report.chapter("Decided: amend one, skip one, apply one as it is")
        self._amend(self.long, self.bad, amount_cents=120000, reason="not_received")
        self.decide_one(self.long, self.unwanted.event_id, "skip", "superseded by a later limit")
        self.decide_one(self.unreadable, self.unreadable.sent[0].event_id, "skip", "cut off by the sender, sent again")
        self.decide_one(self.stubborn, self.stubborn.sent[0].event_id, "apply", "the rule was relaxed")
        self.decide_one(self.double, self.conflicting_id, "skip", "sent by mistake under a used id")
        self.report.so("five decisions are recorded")

    def decide_one(self, key: Key, event_id: str, action: str, reason: str) -> None:
        event = key.event_state(event_id)
        decide(event_state_id=event.pk, action=action, reason=reason, actor=self.stage.people["oncall"])

    def _amend(self, key: Key, message: Message, **members: object) -> None:
        event = key.event_state(message.event_id)
        copy = message._replace(value=write({**json.loads(message.value), **members}))
        amend(
            event_state_id=event.pk,
            value=copy.value,
            headers=headers(copy),
            actor=self.stage.people["oncall"],
            reason="mended from the case file",
        )
        self.copies[message.event_id] = copy

    def as_applied(self, message: Message) -> Message:
        """The message, or the amended copy that was applied in its place."""
        return self.copies.get(message.event_id, message)

    def refuse(self, owner: Person) -> None:
        self.report.chapter("No one alone: nobody approves what is their own")
        self.first = self.long.request("oncall", "minor units mended, reason from the case file")
        self._refused("the on-call engineer may not approve the own request", self.first, "oncall")
        self.skipping = self.unreadable.request("owner", "the sender has sent it again")
        self._refused("an owner may approve, but not the own request", self.skipping, "owner")
        path = f"/replays/{self.skipping.pk}"
        digest = bytes(self.skipping.digest).hex()
        answer = owner.post(f"{path}/approve", seen_on=path, digest=digest, reason="I trust myself")
        self.report.same(
            f"POST {path}/approve by the requester is refused (it answered {answer.status_code})",
            expected=(True, "requested"),
            actual=(answer.status_code in NOT_ALLOWED, self.long.replay_state(self.skipping)),
        )

    def _refused(self, what: str, replay: Replay, who: str) -> None:
        try:
            approve(replay_id=replay.pk, digest=bytes(replay.digest), actor=self.stage.people[who], reason="mine")
        except Refused as refusal:
            self.report.so(f"{what}: “{refusal}”")
        else:
            raise Deviation(f"{what}: it was approved")

    def replay(self) -> None:
        self.report.chapter("Replayed: in order, once, and no further than the first failure")
        again = self.stubborn.request("oncall", "the rule was relaxed")
        conflict = self.double.request("oncall", "the second one is not wanted")
        pairs = (
            (self.long, self.first),
            (self.unreadable, self.skipping),
            (self.stubborn, again),
            (self.double, conflict),
        )
        for key, replay in pairs:
            key.approve(replay, "reviewer")
        self.unreadable.wait_replay(self.skipping, "completed", "skipped", "applied")
        self.stubborn.wait_replay(again, "stopped", "failed")
        self.double.wait_replay(conflict, "completed", "skipped")
        self.long.wait_replay(self.first, "stopped", "applied", "applied", "skipped", "failed", *[NEVER_ACTED] * 3)
        sent = self.long.sent
        self.long.wait_effects("only what came before the failure took effect", *map(self.as_applied, sent[:2]))
        self.long.wait_track(
            "what failed is poison now and is the head",
            (sent[0], "poison", "applied"),
            (sent[1], "held", "applied"),
            (sent[2], "held", "skipped"),
            (sent[3], "poison", "parked"),
            *((message, "held", "parked") for message in sent[4:]),
        )
        attempts = self.stubborn.event_state(self.stubborn.sent[0].event_id).attempt_count
        self.report.same("what failed again has another attempt", expected=2, actual=attempts)

    def follow(self) -> None:
        self.report.chapter("Replayed again: more is held meanwhile, and follows")
        self._amend(self.stubborn, self.stubborn.sent[0], evidence="letter")
        self.second_stubborn = self.stubborn.request("oncall", "a letter, not a fax")
        self.stubborn.approve(self.second_stubborn, "reviewer")
        self._amend(self.long, self.bad_again, reason="duplicate")
        second = self.long.request("oncall", "the reason is in the case file")
        self.long.approve(second, "reviewer")
        self._pause(second)
        more = [self.long.event("EvidenceAdded"), self.long.event("RefundRequested")]
        self.report.wait_same(
            f"{self.long.account}: two more are held while the replay is paused",
            lambda: [row[0] for row in self.long.track()[7:]],
            [message.event_id for message in more],
        )
        self.other.event("EvidenceAdded")
        self.other.wait_effects("the other key goes on meanwhile", *self.other.sent)
        resume(replay_id=second.pk, actor=self.stage.people["oncall"])
        self.long.wait_replay(second, "completed", *["applied"] * 6)
        followed = list(second.steps.order_by("ordinal").values_list("followed", flat=True))
        self.report.same(
            "the two that were held meanwhile followed", expected=[False] * 4 + [True] * 2, actual=followed
        )
        limits = [self.long.event_state(message.event_id).attempt_count for message in self.slow]
        self.report.same("being rate limited costs no attempt", expected=[0, 0], actual=limits)
        self.stubborn.wait_replay(self.second_stubborn, "completed", "applied")

    def _pause(self, replay: Replay) -> None:
        states = ("running", "stopped", "releasing", "completed")
        self.report.wait(
            f"{self.long.account}: the second replay runs", lambda: self.long.replay_state(replay), states.__contains__
        )
        pause(replay_id=replay.pk, actor=self.stage.people["oncall"], reason="something more is coming")
        self.report.so(f"{self.long.account}: the replay is paused")

    def release(self) -> None:
        self.report.chapter("Released: back on the line, in order, each once")
        for key in (self.long, self.unreadable, self.stubborn, self.double):
            key.wait_state("released")
            key.event("EvidenceAdded")
        applied = [message for message in self.long.sent if message is not self.unwanted]
        self.long.wait_effects(
            f"{len(applied)} effects in the order sent, later live ones included", *map(self.as_applied, applied)
        )
        self.unreadable.wait_effects("all but the skipped one", *self.unreadable.sent[1:])
        self.stubborn.wait_effects("all, the amended one as amended", *map(self.as_applied, self.stubborn.sent))
        self.double.wait_effects(
            "the first, and what came after the release", self.double.sent[0], self.double.sent[-1]
        )
        for key in (self.long, self.unreadable, self.stubborn, self.double):
            self.report.same(
                f"{key.account}: the live event after the release was not parked",
                expected=False,
                actual=key.sent[-1].event_id in [row[0] for row in key.track()],
            )
