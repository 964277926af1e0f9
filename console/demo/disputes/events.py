"""What arrives on the topic `disputes`: five types of event (header `event-type`), JSON, keyed by account."""

import json

REASONS = ("fraud", "duplicate", "not_received")
EVIDENCE = ("receipt", "delivery_note", "letter")

MEMBERS: dict[str, tuple[str, ...]] = {
    "ChargeDisputed": ("dispute_id", "amount_cents", "account", "card", "reason", "ledger_seq"),
    "EvidenceAdded": ("dispute_id", "account", "evidence", "ledger_seq"),
    "LimitChanged": ("account", "limit_cents", "ledger_seq"),
    "RefundRequested": ("dispute_id", "amount_cents", "account", "reason", "ledger_seq"),
    "AccountClosed": ("account", "ledger_seq"),
}
NEED_A_DECISION = ("ChargeDisputed", "RefundRequested")


def write(members: dict[str, object]) -> bytes:
    """The value of an event: JSON with the members in the order given, readable in a console."""
    return json.dumps(members, ensure_ascii=False).encode()


def card(account: str) -> str:
    """The card of an account. 9999 is no issuer's number: no real card looks like this."""
    return "9999" + account.removeprefix("acc-")[-12:].rjust(12, "0")
