"""An Avro schema as types that know each other (Avro specification 1.12, "Schema Declaration", "Names")."""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from parking.decoding.errors import DoesNotFit
from parking.decoding.schema import Schema

PRIMITIVES = frozenset(("null", "boolean", "int", "long", "float", "double", "bytes", "string"))
_NAMED = frozenset(("record", "error", "enum", "fixed"))
DEEPEST = 100


@dataclass(slots=True, eq=False)
class Type:
    """One type. `name` is the full name of a record, enum or fixed; `scale` is that of a decimal, else None."""

    kind: str
    name: str = ""
    fields: list[tuple[str, "Type"]] = field(default_factory=list)
    of: "Type | None" = None
    branches: list["Type"] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)
    size: int = 0
    scale: int | None = None

    @property
    def branch(self) -> str:
        """How a union names it."""
        return self.name or self.kind

    @property
    def plain(self) -> bool:
        """Whether a union tells its branches apart without naming them: null and one other."""
        return sum(branch.kind != "null" for branch in self.branches) <= 1


@lru_cache(maxsize=64)
def parse(schema: Schema) -> Type:
    """The type of the schema. Raises DoesNotFit where the schema is none."""
    names: dict[str, Type] = {}
    try:
        for _, text in schema.references:
            _type(json.loads(text), "", names, 0)
        return _type(json.loads(schema.text), "", names, 0)
    except (ValueError, RecursionError) as error:
        if isinstance(error, DoesNotFit):
            raise
        raise DoesNotFit(f"the schema is no JSON ({type(error).__name__})") from None


def _type(told: Any, space: str, names: dict[str, Type], depth: int) -> Type:
    if depth > DEEPEST:
        raise DoesNotFit(f"the schema is nested deeper than {DEEPEST}")
    if isinstance(told, list):
        return Type("union", branches=[_type(one, space, names, depth + 1) for one in told])
    if isinstance(told, str):
        return _by_name(told, space, names)
    if not isinstance(told, dict) or "type" not in told:
        raise DoesNotFit(f"the schema has no type at {_short(told)}")
    kind = told["type"]
    if kind in ("array", "map"):
        inner = told.get("items" if kind == "array" else "values")
        return Type(kind, of=_type(inner, space, names, depth + 1))
    if isinstance(kind, str) and kind in _NAMED:
        return _named(told, kind, space, names, depth)
    if isinstance(kind, str) and kind in PRIMITIVES:
        return Type(kind, scale=_scale(told))
    return _type(kind, space, names, depth + 1)


def _by_name(name: str, space: str, names: dict[str, Type]) -> Type:
    if name in PRIMITIVES:
        return Type(name)
    full = name if "." in name or not space else f"{space}.{name}"
    found = names.get(full) or names.get(name)
    if found is None:
        raise DoesNotFit(f"the schema names {full[:200]}, which it does not define")
    return found


def _named(told: dict[str, Any], kind: str, space: str, names: dict[str, Type], depth: int) -> Type:
    name, inner = _full_name(told, space)
    made = names[name] = Type("record" if kind == "error" else kind, name)  # known before its fields: they may name it
    if kind == "enum":
        made.symbols = [str(symbol) for symbol in _list(told, "symbols")]
    elif kind == "fixed":
        size = told.get("size")
        made.size = size if isinstance(size, int) and size >= 0 else -1
        made.scale = _scale(told)
    else:
        for one in _list(told, "fields"):
            if not isinstance(one, dict) or not isinstance(one.get("name"), str):
                raise DoesNotFit(f"the schema has a field without a name in {name[:200]}")
            made.fields.append((one["name"], _type(one.get("type"), inner, names, depth + 1)))
    return made


def _full_name(told: dict[str, Any], space: str) -> tuple[str, str]:
    """The full name, and the namespace for what stands inside."""
    name = told.get("name")
    if not isinstance(name, str) or not name:
        raise DoesNotFit(f"the schema has a type without a name: {_short(told)}")
    if "." in name:
        return name, name.rpartition(".")[0]
    given = told.get("namespace", space)
    inner = given if isinstance(given, str) else ""
    return (f"{inner}.{name}" if inner else name), inner


def _list(told: dict[str, Any], member: str) -> list[Any]:
    found = told.get(member)
    if not isinstance(found, list):
        raise DoesNotFit(f"the schema has no list of {member} in {_short(told.get('name'))}")
    return found


def _scale(told: dict[str, Any]) -> int | None:
    """Of a decimal; a logical type that is not sound is ignored, as the specification says."""
    scale = told.get("scale", 0)
    sound = told.get("logicalType") == "decimal" and isinstance(scale, int) and 0 <= scale <= 10_000
    return scale if sound and told.get("type") in ("bytes", "fixed") else None


def _short(told: object) -> str:
    return repr(told)[:100]
