"""`python -m console.embedded`: PostgreSQL, Redis and Kafka until Ctrl-C; prints their addresses as `export` lines.

`--data DIR` keeps their data there (default: a folder that is removed at the end), `--free-ports` takes any free ports.
"""

import argparse
import shlex
import signal
import sys
import tempfile
import time
from pathlib import Path

from console.embedded.errors import EmbeddedError
from console.embedded.process import Process
from console.embedded.progress import ProgressLine
from console.embedded.servers import Servers
from console.environment import Misconfigured, environment


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m console.embedded", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder for the servers' data")
    parser.add_argument("--free-ports", action="store_true", help="take any free ports, not the well-known ones")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="siding-") as scratch:
        return run(options.data or Path(scratch), fixed_ports=not options.free_ports)


def run(data_dir: Path, *, fixed_ports: bool) -> int:
    progress = ProgressLine()
    servers = None
    try:
        servers = Servers(environment(), data_dir, fixed_ports=fixed_ports, progress=progress)
        addresses = servers.start()
        progress.clear()
        for name, value in addresses.variables().items():
            print(f"export {name}={shlex.quote(value)}", flush=True)
        print("Ready. Ctrl-C ends all of them.", file=sys.stderr)
        return watch(servers)
    except (EmbeddedError, Misconfigured) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    finally:
        if servers:
            servers.stop()


def watch(servers: Servers) -> int:
    """Returns when one of the servers has died, and says which."""
    while True:
        for server in servers.running:
            process: Process | None = getattr(server, "process", None)
            if process and not process.running:
                print(f"{server.name} ended.\n{process.log_tail()}", file=sys.stderr)
                return 1
        time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main())
