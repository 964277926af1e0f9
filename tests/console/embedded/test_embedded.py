"""Servers of our own: they say what is in their way, and never outlive us."""

import os
import signal
import socket
import subprocess
import sys
from typing import IO

import psutil
import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from console.embedded import jars as jars_module
from console.embedded.errors import NoJars, PortBusy, ServerDied
from console.embedded.jars import jars
from console.embedded.ports import demand_free
from console.embedded.postgres import Postgres
from console.embedded.process import Process
from console.embedded.progress import silent
from console.embedded.redis import Redis
from console.embedded.servers import Servers
from console.environment import environment


def opened(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def test_a_busy_port_is_reported_with_its_holder_and_the_way_out():
    with socket.create_server(("127.0.0.1", 0)) as holder, pytest.raises(PortBusy) as raised:
        demand_free(holder.getsockname()[1], variable="SIDING_REDIS_PORT", server="Redis")
    assert f"(process {os.getpid()})" in str(raised.value)
    assert "SIDING_REDIS_PORT=" in str(raised.value)


def test_a_server_that_ends_is_named_with_the_last_lines_of_its_log(tmp_path):
    process = Process("Teapot", ["sh", "-c", "echo no water; exit 7"], log=tmp_path / "log")
    with pytest.raises(ServerDied, match=r"(?s)Teapot ended with status 7.*no water"):
        process.wait_until(lambda: False, seconds=60)


def test_a_server_that_is_never_ready_is_named(tmp_path):
    process = Process("Teapot", ["sleep", "60"], log=tmp_path / "log")
    with pytest.raises(ServerDied, match="not ready"):
        process.wait_until(lambda: False, seconds=0.2)
    process.stop()
    assert not process.running


def test_a_killed_parent_takes_its_servers_along(tmp_path):
    script = (
        "import pathlib, sys, time\n"
        "from console.embedded.process import Process\n"
        "print(Process('x', ['sleep', '300'], log=pathlib.Path(sys.argv[1])).popen.pid, flush=True)\n"
        "time.sleep(300)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script, tmp_path / "log"], stdout=subprocess.PIPE, text=True)
    child = psutil.Process(int(opened(parent.stdout).readline()))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    child.wait(60)


def test_postgres_keeps_its_data_over_a_restart_and_a_half_made_cluster_is_made_anew(tmp_path):
    (tmp_path / "pg/data/base").mkdir(parents=True)  # initdb was killed here
    first = Postgres()
    with psycopg.connect(first.start(tmp_path / "pg")) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'Grüße' AS word")
    first.stop()
    second = Postgres()
    with psycopg.connect(second.start(tmp_path / "pg")) as connection:
        assert connection.execute("SELECT word FROM kept").fetchone() == ("Grüße",)
    second.stop()


def test_redis_wants_its_password(tmp_path):
    server = Redis()
    server.start(tmp_path / "redis")
    with (
        pytest.raises(redis.AuthenticationError),
        redis.Redis(port=server.port, retry=Retry(NoBackoff(), 0)) as stranger,
    ):
        stranger.ping()
    server.stop()


def test_servers_whose_addresses_are_set_are_used_and_nothing_is_started(tmp_path):
    servers = Servers(environment(), tmp_path)
    addresses = servers.start()
    assert addresses.database_url == environment().database_url
    assert servers.running == []


def test_a_jar_that_is_not_what_the_lock_file_says_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    lock = tmp_path / "jgo.lock.toml"
    lock.write_text(
        '[[dependencies]]\ngroupId = "org.slf4j"\nartifactId = "slf4j-api"\nversion = "2.0.17"\nsha256 = "00"\n'
    )
    monkeypatch.setattr(jars_module, "LOCK", lock)
    with pytest.raises(NoJars):
        jars(tmp_path / "cache", silent)
    assert not list((tmp_path / "cache").glob("kafka-*"))


def test_without_mavens_repository_the_mock_cluster_stands_in_and_one_line_says_so(tmp_path):
    unreachable = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": ""}
    env = {**os.environ, **unreachable, "XDG_CACHE_HOME": str(tmp_path)}
    del env["SIDING_KAFKA_BOOTSTRAP_SERVERS"]
    command = [sys.executable, "-m", "console.embedded", "--free-ports"]
    servers = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = [next(opened(servers.stderr))]
    while not said[-1].startswith("Ready"):
        said.append(next(opened(servers.stderr)))
    servers.send_signal(signal.SIGINT)
    exports = opened(servers.stdout).read()
    servers.wait(60)
    assert sum("mock cluster stands in" in line for line in said) == 1
    assert "export SIDING_KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:" in exports
    assert not list(tmp_path.glob("siding/kafka-*"))
