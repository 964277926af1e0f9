"""Whatever goes wrong, the check says so and does not end with 0."""

import os
import subprocess
import sys

import pytest

from console.demo.disputes.settings import Settings
from console.demo.processes import CHECK, ROOT
from console.embedded.ports import free_port


@pytest.mark.slow
def test_a_console_that_does_not_answer_fails_the_check(variables, tmp_path):
    nowhere = Settings(bootstrap_servers="127.0.0.1:1", database_url="postgresql:///", model_url="-", secret="-")
    base_url = {"SIDING_BASE_URL": f"http://127.0.0.1:{free_port()}"}
    done = subprocess.run(
        [sys.executable, *CHECK[1:], tmp_path],
        cwd=ROOT,
        env={**os.environ, **variables, **nowhere.variables(), **base_url},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 1
    assert "✗" in done.stdout
    assert "Connection refused" in done.stdout
    assert "CHECK FAILED after 0 things that are so" in done.stdout
