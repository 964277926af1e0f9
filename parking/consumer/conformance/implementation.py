"""The implementation under test: a command that is started, killed and started again."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Self


class Implementation:
    """Use as a context manager: it has ended, with all that it started, after it. `variables` are added to its
    environment; its output goes where the suite's errors go.
    """

    def __init__(self, command: str, variables: Mapping[str, str]) -> None:
        self._command = shlex.split(command)
        self._environment = {**os.environ, **variables}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, env=self._environment, stdout=sys.stderr, start_new_session=True
        )

    def kill(self) -> None:
        """SIGKILL, as a crash would: nothing is finished and nobody is told."""
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()

    @property
    def ended(self) -> int | None:
        """Its exit status, where it has ended by itself."""
        return self._process.poll() if self._process else None
