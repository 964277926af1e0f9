"""The demo's folder: data that stays from one start to the next, logs, and that only one demo uses it at a time."""

import fcntl
import json
import os
import secrets
from pathlib import Path
from typing import IO

from console.demo.trouble import Trouble

ACCOUNTS = {
    "oncall": "looks into what stopped, decides, amends, asks for replays",
    "reviewer": "approves or rejects what others ask for",
    "owner": "both of these, but never approves what is their own",
}


class Place:
    """`.demo` in the project (not in git). Made as needed; readable by its owner alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: IO[str] | None = None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.logs.mkdir(exist_ok=True)

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def take(self) -> None:
        """Keep other demos out until this process ends. Raises Trouble."""
        self._lock = (self.folder / "lock").open("a+")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.seek(0)
            who = self._lock.read().strip() or "unknown"
            raise Trouble(f"another demo (process {who}) uses {self.folder}: use that one, or end it first") from None
        self._lock.truncate(0)
        self._lock.write(str(os.getpid()))
        self._lock.flush()

    def passwords(self) -> dict[str, str]:
        """Account → password; random, so that a demo on a reachable machine is not open to all who know the source."""
        return {name: self.secret(name, size=12) for name in ACCOUNTS}

    def secret(self, name: str, *, size: int = 48) -> str:
        """A random text of that many bytes; the same from one start to the next."""
        path = self.folder / "secrets.json"
        known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
        if name not in known:
            known[name] = secrets.token_urlsafe(size)
            path.touch(mode=0o600)
            path.write_text(json.dumps(known))
        return known[name]
