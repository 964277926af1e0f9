"""JSON that somebody edited, read so that nothing is lost: every digit of a number, every member in its order."""

import json
from decimal import Decimal
from typing import Any

from parking.decoding.errors import NotWritable


class Pairs(list[tuple[str, Any]]):
    """An object's members in their order, repeated names included."""


def read(text: str) -> Any:
    """Lists, Pairs, texts, ints, Decimals, booleans and None. Raises NotWritable where the text is no strict JSON."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_refuse, object_pairs_hook=Pairs)
    except json.JSONDecodeError as error:
        raise NotWritable("", "JSON", f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise NotWritable("", "JSON of usual size", str(error) or "something too deep") from None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant}, which is no JSON: write it as a text")


def arrived(document: Any) -> str:
    """The value in a few words, for an error."""
    if isinstance(document, Pairs):
        return f"an object of {len(document)} members"
    if isinstance(document, list):
        return f"a list of {len(document)}"
    text = str(document) if isinstance(document, Decimal) else json.dumps(document, ensure_ascii=False)
    return text if len(text) <= 100 else text[:100] + "…"
