"""What is held: the hold key of an event, the same in kit and console (DESIGN section 1)."""

import json
from collections.abc import Iterator
from functools import lru_cache

from parking.json_member import json_member

INDEPENDENT = "independent"
KEYED = "keyed"
RAW = "raw"
PREFIX = "prefix"
JSON = "json:"


def hold_key(key: bytes | None, event_id: str, *, rule: str = RAW, promise: str = KEYED) -> bytes:
    """The hold key of the event with this record key and event id.

    `rule` is `raw`, `prefix` (without the first 5 bytes, a schema id, if there are as many and the first is 0) or
    `json:a.b` (the member at that path of a JSON key; the raw key where it is missing). `promise` is `keyed` or
    `independent`. Every event without a key, and every event of an independent flow, is held alone: by its id.
    Never raises for what a key may contain; raises ValueError for an unknown rule or promise.
    """
    _check(rule, promise)
    if key is None or promise == INDEPENDENT:
        return event_id.encode("utf-8", "surrogatepass")
    if rule == PREFIX:
        return key[5:] if len(key) >= 5 and key[0] == 0 else key
    if rule.startswith(JSON):
        member = json_member(key, rule.removeprefix(JSON).split("."))
        return key if member is None else member
    return key


def keys(held: bytes, *, rule: str) -> Iterator[bytes | None]:
    """Record keys, at least one of which the rule makes this hold key of, where some event has it."""
    yield held
    if rule == PREFIX:
        yield bytes(5) + held
    elif rule.startswith(JSON):
        text = json.dumps(held.decode("utf-8", "replace"))
        names = rule.removeprefix(JSON).split(".")
        yield ("".join(f"{{{json.dumps(name)}:" for name in names) + text + "}" * len(names)).encode()
    yield None


def check(*, rule: str, promise: str) -> None:
    """Raise ValueError, with what was expected, for a key rule or an ordering promise that does not exist."""
    if rule not in (RAW, PREFIX) and not (rule.startswith(JSON) and all(rule.removeprefix(JSON).split("."))):
        raise ValueError(f"key rule: expected raw, prefix or json:<path> such as json:account.id, arrived {rule!r}")
    if promise not in (KEYED, INDEPENDENT):
        raise ValueError(f"ordering promise: expected keyed or independent, arrived {promise!r}")


@lru_cache(maxsize=64)
def _check(rule: str, promise: str) -> None:
    check(rule=rule, promise=promise)
