"""The fencing token of a replay: a number that only grows, also across a restore (DESIGN section 1)."""

from django.utils import timezone

from parking.models import HoldKey


def following(last: int, *, now_ms: int, highest_floor: int) -> int:
    """max(last + 1, milliseconds since 1970, the highest floor that a consumer ever answered + 1)."""
    return max(last + 1, now_ms, highest_floor + 1)


def take(hold_key_id: int) -> int:
    """The next token of a hold key, recorded on its locked row in the caller's transaction."""
    hold_key = HoldKey.objects.select_for_update().get(pk=hold_key_id)
    now_ms = int(timezone.now().timestamp() * 1000)
    token = following(hold_key.last_token, now_ms=now_ms, highest_floor=hold_key.highest_floor)
    HoldKey.objects.filter(pk=hold_key_id).update(last_token=token)
    return token
