"""`python -m console.alive PROCESS`: whether a process of this host does its work; for health checks of containers.

Exit status 0 if so, 1 with one line if not. `web` is asked for a page; of `intake`, `index` and `watch` their last sign
of life is read, which intake gives only while Kafka answers. The others live as long as they run.
"""

import http.client
import socket
import sys

import psycopg

from console.environment import Misconfigured, environment

FRESH = 60
WITH_BEATS = ("intake", "index", "watch")
BEAT = "SELECT max(at) > now() - make_interval(secs => %s) FROM parking_beat WHERE process = %s AND host = %s"


def trouble(process: str, *, port: int = 8000) -> str:
    """What is wrong with the process, in one line; empty if nothing is."""
    return _of_web(port) if process == "web" else _of_beats(process)


def _of_web(port: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/signin", headers={"Host": environment().base_url.host or ""})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"web does not answer: {error}"
    finally:
        connection.close()
    return "" if status == http.client.OK else f"web answers {status}"


def _of_beats(process: str) -> str:
    host = socket.gethostname()[:255]
    try:
        with psycopg.connect(environment().database_url, connect_timeout=5) as connection:
            row = connection.execute(BEAT, [FRESH, process, host]).fetchone()
    except psycopg.Error as error:
        return f"whether {process} lives is not known: {str(error).splitlines()[0]}"
    return "" if row and row[0] else f"{process} on {host} has given no sign of life for {FRESH} s: see its log"


def main() -> int:
    known = ("web", *WITH_BEATS)
    if len(sys.argv) != 2 or sys.argv[1] not in known:
        found = f"one of {', '.join(known)} was expected, {' '.join(sys.argv[1:]) or 'nothing'} arrived"
    else:
        try:
            found = trouble(sys.argv[1])
        except Misconfigured as error:
            found = str(error)
    if found:
        sys.stdout.write(f"{found}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
