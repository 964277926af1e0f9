"""What the outside world sends: single healthy events, and stories of an account that gets into trouble. Pure."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from console.demo.disputes.events import EVIDENCE, REASONS, card, write

FIRST_SEQUENCE = 9007199254740993123  # beyond what a double can hold: shown digit for digit or it is wrong
QUIET = tuple(f"acc-{number}" for number in range(20500, 20540))
TROUBLED = tuple(f"acc-{number}" for number in (20418, 20421, 20440, 20466, 20471, 20417, 20433, 20452))


class Message(NamedTuple):
    """One record to send; headers in order, with a repeated name and a null value as producers do send them."""

    key: bytes
    value: bytes
    headers: list[tuple[str, str | bytes | None]]

    @property
    def event_id(self) -> str:
        return self._text("event-id")

    @property
    def event_type(self) -> str:
        return self._text("event-type")

    def _text(self, name: str) -> str:
        value = dict(self.headers)[name] or b""
        return value if isinstance(value, str) else value.decode()


class Sender:
    """Numbers and names what is sent: the same seed and first number give the same messages."""

    def __init__(self, *, seed: int, first: int = FIRST_SEQUENCE) -> None:
        self.random = Random(seed)  # noqa: S311 - made-up data
        self.sequence = first

    def event(self, event_type: str, account: str, **changed: object) -> Message:
        """An event that is right, except for the members that are given."""
        return self.message(event_type, account, write({**self.members(event_type, account), **changed}))

    def message(self, event_type: str, account: str, value: bytes) -> Message:
        event_id = f"evt-{self.random.getrandbits(64):016x}"
        trace = f"00-{self.random.getrandbits(128):032x}-{self.random.getrandbits(64):016x}-01"
        headers: list[tuple[str, str | bytes | None]] = [
            ("event-id", event_id.encode()),
            ("event-type", event_type.encode()),
            ("content-type", b"application/json"),
            ("traceparent", trace.encode()),
            ("tag", b"demo"),
            ("tag", b"disputes"),
            ("note", None),
        ]
        return Message(account.encode(), value, headers)

    def members(self, event_type: str, account: str) -> dict[str, object]:
        sequence, self.sequence = self.sequence, self.sequence + 1
        dispute = f"dsp-{7731 + (sequence - FIRST_SEQUENCE) % 90_000}"
        amount = self.random.randrange(500, 90_000, 5)
        reason = self.random.choice(REASONS)
        own: dict[str, dict[str, object]] = {
            "ChargeDisputed": {
                "dispute_id": dispute,
                "amount_cents": amount,
                "account": account,
                "card": card(account),
                "reason": reason,
            },
            "EvidenceAdded": {
                "dispute_id": dispute,
                "account": account,
                "evidence": self.random.choice(EVIDENCE),
            },
            "LimitChanged": {"account": account, "limit_cents": self.random.randrange(0, 500_000, 10_000)},
            "RefundRequested": {
                "dispute_id": dispute,
                "amount_cents": amount,
                "account": account,
                "reason": reason,
            },
            "AccountClosed": {"account": account},
        }
        return {**own[event_type], "ledger_seq": sequence}

    def healthy(self, account: str) -> Message:
        kinds = ("ChargeDisputed", "EvidenceAdded", "EvidenceAdded", "LimitChanged", "RefundRequested")
        return self.event(self.random.choice(kinds), account)


def amount_as_text(sender: Sender, account: str) -> Iterator[Message]:
    """Two faults in one event, and a day's work behind it."""
    yield sender.event("ChargeDisputed", account, amount_cents="1200.00", reason="other")
    yield sender.event("EvidenceAdded", account)
    yield sender.event("EvidenceAdded", account)
    yield sender.event("LimitChanged", account)
    yield sender.event("RefundRequested", account)
    yield sender.event("RefundRequested", account)


def unknown_reason(sender: Sender, account: str) -> Iterator[Message]:
    yield sender.event("RefundRequested", account, reason="goodwill")
    yield sender.event("EvidenceAdded", account)


def wrong_members(sender: Sender, account: str) -> Iterator[Message]:
    yield sender.event("EvidenceAdded", account, evidence="fax", dispute_id=7731)
    yield sender.event("ChargeDisputed", account)
    yield sender.event("EvidenceAdded", account)


def not_json(sender: Sender, account: str) -> Iterator[Message]:
    yield sender.message("LimitChanged", account, b'{"account": "%b", "limit_cents": 120\x00\xff' % account.encode())
    yield sender.event("LimitChanged", account)


def late_after_closing(sender: Sender, account: str) -> Iterator[Message]:
    """The account is closed, then an event comes late: nothing but skipping helps."""
    yield sender.event("AccountClosed", account)
    yield sender.event("EvidenceAdded", account)


STORIES = (amount_as_text, unknown_reason, wrong_members, not_json)
OPENING = (
    (amount_as_text, "acc-20417"),
    (unknown_reason, "acc-20433"),
    (wrong_members, "acc-20452"),
    (late_after_closing, "acc-20388"),
)
