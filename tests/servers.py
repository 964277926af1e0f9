"""The servers of one test run: started once, before Django reads its settings; used by all of its workers.

A server whose address is set is used instead. Kafka may still be starting when tests begin: the fixture `kafka` waits.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import redis

from console.embedded.progress import ProgressLine
from console.embedded.servers import Servers
from console.environment import environment

RUN = "SIDING_TESTS_RUN"  # set by the process that starts the servers: names databases and topics of this run
KAFKA = "SIDING_TESTS_KAFKA"  # "mock" where librdkafka's mock cluster stands in


def prepare() -> None:
    """Starts the servers in the first process of a run; gives each worker its own Redis databases."""
    if RUN not in os.environ:
        _start()
    os.environ["SIDING_REDIS_URL"] = _own_redis(environment().redis_url)
    environment.cache_clear()


def run() -> str:
    return os.environ[RUN]


def kafka_is_mock() -> bool:
    return os.environ.get(KAFKA) == "mock"


def _start() -> None:
    data_dir = Path(tempfile.mkdtemp(prefix="siding-tests-"))
    servers = Servers(environment(), data_dir, progress=ProgressLine(prefix="tests: "))
    atexit.register(shutil.rmtree, data_dir, ignore_errors=True)
    atexit.register(servers.stop)
    addresses = servers.launch()
    for server in servers.running:
        if server.name != "Apache Kafka":
            server.wait()
    os.environ.update(addresses.variables(), **{RUN: str(os.getpid()), KAFKA: "mock" if servers.mock else "real"})
    environment.cache_clear()


def _own_redis(url: str) -> str:
    """Two databases of the server for this worker, as long as it has enough of them."""
    with redis.Redis.from_url(url) as client:
        pairs = int(client.config_get("databases")["databases"]) // 2
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    number = 2 * ((int(run()) + worker) % pairs)
    return urlunsplit(urlsplit(url)._replace(path=f"/{number}"))
