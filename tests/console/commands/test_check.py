"""`manage.py check` in a process of its own: what it looks at, what it exits with, and that only it looks."""

import subprocess
import sys
import time

import pytest

from console.demo.processes import ROOT
from console.embedded.ports import free_port

ONLY_ITSELF = (
    "import django; django.setup()\n"
    "from django.core.checks import run_checks\n"
    "print([fault.id for fault in run_checks(include_deployment_checks=True)])"
)


def run(*arguments: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=240, check=False)


@pytest.fixture
def nowhere(variables: dict[str, str]) -> dict[str, str]:
    """All servers are at closed ports."""
    return {
        **variables,
        "SIDING_DATABASE_URL": f"postgresql://siding:hunter2@127.0.0.1:{free_port()}/siding",
        "SIDING_REDIS_URL": f"redis://:hunter2@127.0.0.1:{free_port()}/0",
    }


def test_servers_that_are_here(variables: dict[str, str]) -> None:
    done = run("manage.py", "check", variables=variables)
    assert done.returncode == 0, done.stderr
    assert "Flows: (siding.W401) No flow is declared" in done.stderr
    assert "siding.E" not in done.stderr


@pytest.mark.slow
def test_servers_that_are_not_here_are_all_named(nowhere: dict[str, str]) -> None:
    began = time.monotonic()
    done = run("manage.py", "check", variables=nowhere)
    assert time.monotonic() - began < 120
    assert done.returncode == 1
    assert "SIDING_DATABASE_URL: (siding.E201) PostgreSQL at 127.0.0.1:" in done.stderr
    assert "SIDING_REDIS_URL: (siding.E301) Redis at 127.0.0.1:" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr


@pytest.mark.slow
def test_offline_asks_no_server_but_looks_at_the_settings(nowhere: dict[str, str]) -> None:
    assert run("manage.py", "check", "--offline", variables=nowhere).returncode == 0
    elsewhere = {**nowhere, "SIDING_BASE_URL": "https://siding.example"}
    done = run("manage.py", "check", "--offline", variables=elsewhere)
    assert done.returncode == 1
    assert "Add siding.example to SIDING_ALLOWED_HOSTS" in done.stderr


@pytest.mark.slow
def test_no_other_command_waits_for_a_server(nowhere: dict[str, str]) -> None:
    done = run("-c", ONLY_ITSELF, variables=nowhere)
    assert done.returncode == 0, done.stderr
    assert "siding" not in done.stdout
