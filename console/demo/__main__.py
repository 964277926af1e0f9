"""`python -m console.demo`: everything at once on this machine, until Ctrl-C. With `--check` it checks itself and ends.

Servers whose addresses are set (SIDING_DATABASE_URL, SIDING_REDIS_URL, SIDING_KAFKA_BOOTSTRAP_SERVERS) are used
instead of our own. Data and logs are kept in `.demo`, those of a check in `.demo/check`.
"""

import argparse
import signal
import sys
import time
from functools import partial
from pathlib import Path
from types import FrameType

from console.demo.place import ACCOUNTS
from console.demo.processes import ROOT
from console.demo.run import GLANCE, Demo
from console.demo.trouble import Trouble
from console.embedded import EmbeddedError
from console.environment import Misconfigured, environment

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ended(BaseException):
    """Somebody asked us to end."""


def end(number: int, frame: FrameType | None) -> None:
    for each in ENDS:
        signal.signal(each, signal.SIG_IGN)  # once is enough: ending is under way, and bounded
    raise Ended


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m console.demo", description=__doc__)
    parser.add_argument("--check", action="store_true", help="run the whole life of several keys, check it, and end")
    parser.add_argument("--folder", type=Path, help="where data and logs are kept")
    parser.add_argument("--without-life", action="store_true", help="do not begin with two weeks of history")
    options = parser.parse_args()
    for number in ENDS:
        signal.signal(number, end)
    try:
        folder = options.folder or (ROOT / ".demo/check" if options.check else ROOT / ".demo")
        life = not (options.check or options.without_life)
        with Demo(environment(), folder.resolve(), any_ports=options.check, life=life) as demo:
            demo.start()
            return demo.check(partial(print, flush=True)) if options.check else stay(demo)
    except (Trouble, EmbeddedError, Misconfigured) as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    except Ended:
        return 130 if options.check else 0


def stay(demo: Demo) -> int:
    """Say where everything is, then keep it running."""
    passwords = demo.place.passwords()
    print(f"\n  Siding is at {demo.url}\n", flush=True)
    for name, does in ACCOUNTS.items():
        print(f"    {name:9} {passwords[name]}   {does}", flush=True)
    print(f"\n  These accounts are for this demo only. Logs: {demo.place.logs}. Ctrl-C ends everything.\n", flush=True)
    while True:
        demo.look()
        time.sleep(GLANCE)


if __name__ == "__main__":
    sys.exit(main())
