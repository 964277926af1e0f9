"""Health checks of containers: a process that does its work, one that is silent, one that cannot be asked."""

import http.server
import os
import socket
import subprocess
import sys
from datetime import timedelta
from threading import Thread

import pytest
from django.utils import timezone

from console import alive
from console.demo.processes import ROOT
from console.embedded.ports import free_port
from parking.beat import beat
from parking.models import Beat


def ask(process: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "console.alive", *process.split()]
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120, check=False)


def test_a_process_that_gives_signs_of_life(variables: dict[str, str]) -> None:
    beat("intake")
    done = ask("intake", variables)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_process_that_is_silent_or_lives_elsewhere(variables: dict[str, str]) -> None:
    beat("intake")
    Beat.objects.update(at=timezone.now() - timedelta(seconds=alive.FRESH + 5))
    Beat.objects.create(process="intake", host="elsewhere", pid=1, at=timezone.now())
    beat("watch")
    done = ask("intake", variables)
    assert done.returncode == 1
    assert f"intake on {socket.gethostname()} has given no sign of life" in done.stdout


def test_a_database_that_is_away() -> None:
    away = {**os.environ, "SIDING_DATABASE_URL": f"postgresql://me:hunter2@127.0.0.1:{free_port()}/siding"}
    done = ask("watch", away)
    assert done.returncode == 1
    assert done.stdout.startswith("whether watch lives is not known: ")
    assert done.stdout.count("\n") == 1
    assert "hunter2" not in done.stdout


@pytest.mark.parametrize("process", ["", "worker", "intake watch"])
def test_a_process_that_is_not_asked_about(process: str) -> None:
    done = ask(process, dict(os.environ))
    assert done.returncode == 1
    assert "one of web, intake, index, watch was expected" in done.stdout


@pytest.mark.parametrize(("status", "said"), [(200, ""), (500, "web answers 500"), (400, "web answers 400")])
def test_web_is_asked_for_a_page_by_its_own_name(status: int, said: str) -> None:
    hosts = []

    class Web(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hosts.append(self.headers["Host"])
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with http.server.HTTPServer(("127.0.0.1", 0), Web) as server:
        Thread(target=server.handle_request, daemon=True).start()
        assert alive.trouble("web", port=server.server_port) == said
    assert hosts == ["127.0.0.1"]  # the host of SIDING_BASE_URL: one that is answered


def test_web_that_is_away() -> None:
    assert alive.trouble("web", port=free_port()).startswith("web does not answer: ")
