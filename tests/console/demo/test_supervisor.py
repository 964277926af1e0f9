"""Processes that die are named and started again; in the end nothing is left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from console.demo.child import LONGEST_PAUSE, Child
from console.demo.supervisor import Supervisor
from console.embedded.process import Process
from tests.waiting import wait_until

SLEEPS = "import time; print('awake', flush=True); time.sleep(60)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('awake', flush=True); time.sleep(60)"
)
PARENT = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "


@pytest.fixture
def said():
    return []


@pytest.fixture
def supervisor(said):
    one = Supervisor(said.append)
    yield one
    one.stop()


def child(folder: Path, code: str, name: str = "intake") -> Child:
    return Child(name, lambda: Process(name, [sys.executable, "-c", code], log=folder / f"{name}.log"))


def process(one: Child) -> Process:
    assert one.process
    return one.process


def awake(one: Child) -> bool:
    return "awake" in process(one).log.read_text()


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_process_that_dies_is_named_with_the_last_lines_of_its_log(supervisor, said, tmp_path):
    dies = child(tmp_path, "print('no such table: flow'); raise SystemExit(3)")
    supervisor.start(dies)
    wait_until(lambda: not dies.running)
    supervisor.look()
    (text,) = said
    assert "intake ended with status 3; it starts again in 1 s" in text
    assert "no such table: flow" in text
    assert str(tmp_path / "intake.log") in text
    assert supervisor.deaths == ["intake"]


def test_a_process_that_was_killed_is_named_and_starts_again(supervisor, said, tmp_path):
    one = child(tmp_path, SLEEPS)
    supervisor.start(one)
    first = process(one).popen.pid
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: not one.running)
    supervisor.look()
    assert "was ended by SIGKILL" in said[0]
    one.due_at = 0.0
    supervisor.look()
    assert one.running
    assert process(one).popen.pid != first


def test_it_waits_longer_each_time_but_not_for_ever(tmp_path):
    one = child(tmp_path, "")
    one.start(0.0)
    assert [one.failed(1.0) for _ in range(7)] == [1, 2, 4, 8, 16, LONGEST_PAUSE, LONGEST_PAUSE]
    one.start(100.0)
    assert one.failed(200.0) == 1


def test_nothing_is_left_not_even_what_does_not_want_to_end(supervisor, said, tmp_path):
    supervisor.patience = 0.5
    stubborn, gentle = child(tmp_path, STUBBORN, "stubborn"), child(tmp_path, SLEEPS, "gentle")
    parent = child(tmp_path, PARENT + SLEEPS, "parent")
    for one in (stubborn, gentle, parent):
        supervisor.start(one)
    wait_until(lambda: all(awake(one) for one in (stubborn, gentle, parent)))
    pids = [process(one).popen.pid for one in (stubborn, gentle, parent)]
    pids += [grandchild.pid for grandchild in psutil.Process(pids[2]).children()]
    assert len(pids) == 4
    supervisor.stop()
    wait_until(lambda: all(gone(pid) for pid in pids))
    assert "stubborn did not end within 0.5 s and is killed\n" in said


def test_nothing_is_left_when_the_supervisor_itself_is_killed(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; "
        "from console.demo.child import Child; from console.demo.supervisor import Supervisor; "
        "from console.embedded.process import Process; "
        f"start = lambda: Process('one', [sys.executable, '-c', {SLEEPS!r}], log=Path({str(tmp_path / 'one.log')!r})); "
        "one = Child('one', start); Supervisor(print).start(one); "
        "print(one.process.popen.pid, flush=True); time.sleep(60)"
    )
    supervisor = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert supervisor.stdout
    pid = int(supervisor.stdout.readline())
    assert not gone(pid)
    supervisor.kill()
    supervisor.communicate()
    wait_until(lambda: gone(pid))
