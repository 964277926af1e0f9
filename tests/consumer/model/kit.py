"""The consumer kit as it is, or a copy of its source in which one rule is missing."""

import importlib
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import parking.consumer

HERE = Path(parking.consumer.__file__).parent


@dataclass(frozen=True)
class Without:
    """One rule taken away: in `file` of the kit, `text` (which stands there once) becomes `instead`."""

    name: str
    file: str
    text: str
    instead: str


class Kit:
    """The modules of the kit that the model drives."""

    def __init__(self, package: str = "parking.consumer") -> None:
        self._package = package

    def module(self, name: str) -> ModuleType:
        return importlib.import_module(f"{self._package}.{name}")

    def __getattr__(self, name: str) -> Any:
        """Gate, Outbox, Process, Retries, Effect, Ledger, Transaction, Poison, Flow, by their names."""
        return getattr(self.module(_WHERE[name]), name)


_WHERE = {
    "Gate": "gate",
    "Outbox": "outbox",
    "Process": "process",
    "Retries": "tries",
    "Effect": "effect",
    "Poison": "errors",
    "Flow": "flow",
    "Wait": "ask",
    "Ledger": "ledger.ledger",
    "Transaction": "ledger.transaction",
    "statements_of": "ledger.ledger",
    "VERSION": "ledger.ledger",
}


def without(rule: Without, folder: Path) -> Kit:
    """A copy of the whole kit under another name, without that rule. Raises ValueError unless its text stands there."""
    package = f"kit_without_{rule.name}"
    copy = folder / package
    shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    source = (copy / rule.file).read_text()
    if source.count(rule.text) != 1:
        raise ValueError(f"{rule.name}: {rule.text!r} stands {source.count(rule.text)} times in {rule.file}")
    (copy / rule.file).write_text(source.replace(rule.text, rule.instead))
    for path in copy.rglob("*.py"):
        path.write_text(path.read_text().replace("parking.consumer", package))
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        importlib.import_module(package)
    finally:
        sys.path.remove(str(folder))
    return Kit(package)
