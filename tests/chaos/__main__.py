"""`make chaos`: CHAOS_MINUTES (3 unless set) of kills under load, then the verdict; one JSON object as the last line.

CHAOS_SEED repeats whom and when (not what the machine makes of it).
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from random import Random, SystemRandom

from console.demo import processes
from console.demo.__main__ import ENDS, Ended, end
from console.demo.child import Child
from console.demo.run import GLANCE, Demo
from console.embedded.process import Process
from console.environment import environment
from tests.chaos.kills import Killer

INSIDE = (*processes.MODULE, "tests.chaos.inside")
SENDS_BY_ITSELF = "producer"
SECONDS_AFTER = 1800.0


def main() -> int:
    minutes = float(os.environ.get("CHAOS_MINUTES") or 3)
    seed = int(os.environ.get("CHAOS_SEED") or SystemRandom().randrange(10**6))
    for number in ENDS:
        signal.signal(number, end)
    folder = Path(tempfile.mkdtemp(prefix="siding-chaos-"))
    print(f"chaos: {minutes:g} minutes, CHAOS_SEED={seed}, logs in {folder / 'logs'}", flush=True)
    try:
        with Demo(environment(), folder, any_ports=True, life=False) as demo:
            demo.start()
            found = play(demo, minutes, seed)
    except Ended:
        return 130
    if not found["violations"]:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(found), flush=True)
    return 1 if found["violations"] else 0


def play(demo: Demo, minutes: float, seed: int) -> dict[str, object]:
    """Kill until the time is over, keep everything alive until the witness has spoken."""
    demo.processes.say = demo.server_watch.say = lambda _: None  # dying is what they are here for
    demo.processes.start(Child("service-2", partial(demo.process, "service-2", processes.SERVICE["service"])))
    killer = Killer(demo, Random(seed))
    witness = demo.process("inside", [*INSIDE, str(minutes * 60), str(seed)])
    ends, gives_up = time.monotonic() + minutes * 60, time.monotonic() + minutes * 60 + SECONDS_AFTER
    while witness.running and time.monotonic() < gives_up:
        if time.monotonic() > ends:
            _end(demo, SENDS_BY_ITSELF)
        killer.look(kill=time.monotonic() < ends)
        time.sleep(GLANCE)
    witness.stop()
    return result(witness, minutes, killer)


def result(witness: Process, minutes: float, killer: Killer) -> dict[str, object]:
    """What the witness said (not its Kafka client, about a broker that is away), and who was killed how often."""
    lines = [line for line in witness.log.read_text(errors="replace").splitlines() if not line.startswith("%")]
    for line in lines[:-1]:
        print(f"  {line}", flush=True)
    print("  killed: " + ", ".join(f"{name} {times}" for name, times in killer.killed.most_common()), flush=True)
    said = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {"violations": 1, "why": lines[-3:]}
    return {"minutes": minutes, "kills": killer.killed.total(), **said}


def _end(demo: Demo, name: str) -> None:
    """End a process for good."""
    for child in [child for child in demo.processes.children if child.name == name]:
        demo.processes.children.remove(child)
        child.signal(signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
