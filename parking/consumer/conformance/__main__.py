"""`python -m parking.consumer.conformance`: one line for each thing that must be so; exits with 1 where one is not."""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from parking.consumer.conformance import crashed
from parking.consumer.conformance.cases import CASES
from parking.consumer.conformance.implementation import Implementation
from parking.consumer.conformance.line import Line, Topics, Violation


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    flow = options.flow
    topics = Topics(flow, f"{flow}.parking", f"{flow}.replay", f"{flow}.effects")
    settings = {"bootstrap.servers": options.bootstrap, **dict(one.split("=", 1) for one in options.set)}
    secret = options.secret_file.read_bytes().strip() if options.secret_file else None
    line = Line(settings, flow, topics, secret=secret, seconds=options.seconds)
    line.make_topics()
    line.watch()
    with Implementation(options.start, _variables(options.bootstrap, topics, flow)) as implementation:
        failed = run(line, implementation, kills=options.kills, only=options.only)
    line.end()
    return 1 if failed else 0


def run(line: Line, implementation: Implementation, *, kills: int, only: str = "") -> int:
    """How many cases failed; each is said in one line."""
    failed = 0
    for case in CASES:
        if only in case.__name__:
            failed += not _holds(case.__name__, lambda: case(line))  # noqa: B023 - called at once
    if kills and only in crashed.nothing_is_lost_doubled_or_overtaken.__name__:
        crash = crashed.nothing_is_lost_doubled_or_overtaken
        failed += not _holds(
            f"{crash.__name__}, killed {kills} times", lambda: crash(line, implementation, kills=kills)
        )
    for unread in line.malformed:
        failed += 1
        print(f"✗ cannot be read: {unread}", flush=True)
    if implementation.ended is not None:
        failed += 1
        print(f"✗ the implementation has ended by itself with status {implementation.ended}", flush=True)
    print("CONFORMS" if not failed else f"DOES NOT CONFORM: {failed} violations", flush=True)
    return failed


def _holds(name: str, case: Callable[[], None]) -> bool:
    began = time.monotonic()
    try:
        case()
    except Violation as violation:
        print(f"✗ {name.replace('_', ' ')}\n    {violation}", flush=True)
        return False
    print(f"✓ {name.replace('_', ' ')} ({time.monotonic() - began:.1f} s)", flush=True)
    return True


def _variables(bootstrap: str, topics: Topics, flow: str) -> dict[str, str]:
    """What the implementation finds in its environment."""
    named = {f"CONFORMANCE_{name.upper()}_TOPIC": topic for name, topic in topics._asdict().items()}
    return {"CONFORMANCE_BOOTSTRAP_SERVERS": bootstrap, "CONFORMANCE_FLOW": flow, **named}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m parking.consumer.conformance", description=__doc__)
    parser.add_argument("--bootstrap", required=True, help="Kafka's HOST:PORT")
    parser.add_argument(
        "--flow",
        required=True,
        help="name of the flow; its topics are NAME, NAME.parking, NAME.replay and NAME.effects, made where missing",
    )
    parser.add_argument(
        "--start",
        required=True,
        help="command that starts the implementation; it finds CONFORMANCE_BOOTSTRAP_SERVERS, CONFORMANCE_FLOW and "
        "CONFORMANCE_{SOURCE,PARKING,REPLAY,EFFECTS}_TOPIC set",
    )
    parser.add_argument("--secret-file", type=Path, help="file with the flow's secret, where it has one")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of librdkafka")
    parser.add_argument("--seconds", type=float, default=60.0, help="longest wait for anything (default 60)")
    parser.add_argument("--kills", type=int, default=8, help="kills in the last case; 0 leaves it out (default 8)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name has it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
