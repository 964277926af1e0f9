"""The commands of all processes: those of DESIGN.md section 6, and those of the sample services."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from console.embedded.process import Process

ROOT = Path(__file__).resolve().parents[2]
GLANCE = 0.1  # seconds
LONGEST = 300.0
MODULE = (sys.executable, "-m")
MANAGE = (sys.executable, "manage.py")

PREPARE = (*MODULE, "console.demo.prepare")
CHECK = (*MODULE, "console.demo.check")
SERVICE = {name: (*MODULE, f"console.demo.disputes.{name}") for name in ("model", "service", "producer")}


def plain(bootstrap_servers: str) -> dict[str, tuple[str, ...]]:
    """The two services without a gate."""
    return {"plain": (*MODULE, "console.demo.plain.service", bootstrap_servers)}


def console(web_port: int) -> dict[str, tuple[str, ...]]:
    """Name → arguments of Siding's own processes."""
    address = ("--bind", f"127.0.0.1:{web_port}", "--no-control-socket")
    return {
        "web": (*MODULE, "gunicorn", "console.wsgi", *address, "--worker-class", "gthread", "--threads", "8"),
        "intake": (*MANAGE, "intake"),
        "index": (*MANAGE, "index"),
        "watch": (*MANAGE, "watch"),
        "worker": (*MODULE, "celery", "-A", "console", "worker", "--concurrency", "2", "--loglevel", "INFO"),
        "notifier": (*MANAGE, "rqworker", "alerts"),
    }


def follow(process: Process, say: Callable[[str], None], glance: Callable[[], None]) -> None:
    """Say each line that a process writes until it ends, or has not ended in time; `glance` is called meanwhile."""
    until = time.monotonic() + LONGEST
    with process.log.open(encoding="utf-8", errors="replace") as log:
        while True:
            ended = not process.running
            for line in log:
                say(line.rstrip("\n"))
            if ended:
                return
            if time.monotonic() > until:
                say(f"{process.name} did not end within {LONGEST:g} s and is ended")
                process.stop()
            glance()
            time.sleep(GLANCE)
