"""The demo as a whole: what it says when it cannot start, and that nothing of it is left however it ends."""

import os
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

from console.demo.processes import ROOT
from console.embedded.ports import HOST

OURS = ("SIDING_DATABASE_URL", "SIDING_REDIS_URL", "SIDING_KAFKA_BOOTSTRAP_SERVERS")


def demo(folder, *arguments, **variables):
    """The demo with servers of its own, whatever the tests use."""
    environment = {name: value for name, value in os.environ.items() if name not in OURS} | variables
    return subprocess.Popen(
        [sys.executable, "-m", "console.demo", "--folder", folder, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def until_it_says(process, text):
    said = []
    for line in process.stdout:
        said.append(line)
        if text in line:
            return
    pytest.fail(f"it never said {text!r}:\n{''.join(said)}")


def all_gone(processes, seconds):
    end = time.monotonic() + seconds
    while left := [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]:
        if time.monotonic() > end:
            return left
        time.sleep(0.05)
    return []


def test_a_busy_port_is_reported_with_the_way_out(tmp_path):
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        said, _ = (process := demo(tmp_path, SIDING_WEB_PORT=str(port))).communicate(timeout=120)
    assert process.returncode == 1
    (line,) = said.splitlines()
    assert f"port {port} for the console is in use by" in line
    assert "choose another port with SIDING_WEB_PORT=" in line


def test_a_wrong_setting_is_reported_in_one_line(tmp_path):
    said, _ = (process := demo(tmp_path, SIDING_WEB_PORT="eighty")).communicate(timeout=120)
    assert process.returncode == 1
    assert said.startswith("SIDING_WEB_PORT: ")
    assert len(said.splitlines()) == 1


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_however_it_ends_nothing_is_left(tmp_path, end):
    process = demo(tmp_path, "--check")
    until_it_says(process, "waiting for Apache Kafka")
    started = psutil.Process(process.pid).children(recursive=True)
    assert len(started) >= 3
    process.send_signal(end)
    process.communicate(timeout=120)
    assert all_gone(started, 60) == []
    assert process.returncode == (-signal.SIGKILL if end == signal.SIGKILL else 130)
