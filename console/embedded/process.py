"""One server process that never outlives us."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from console.embedded.errors import ServerDied

PR_SET_PDEATHSIG = 1  # linux/prctl.h: the signal this process gets when the thread that made it ends
LOG_LINES = 15

_libc = ctypes.CDLL(None, use_errno=True)


class Process:
    """A program with its output in `log`. It runs in a session of its own, so that Ctrl-C reaches us first, and gets
    `stop_signal` when we end, however we end."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path,
        stop_signal: signal.Signals = signal.SIGTERM,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.name = name
        self.log = log
        self.stop_signal = stop_signal
        self._log_start = log.stat().st_size if log.exists() else 0
        parent = os.getpid()

        def die_with_parent() -> None:
            _libc.prctl(PR_SET_PDEATHSIG, stop_signal)
            if os.getppid() != parent:
                os._exit(1)

        with log.open("ab") as output:
            self.popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **env} if env is not None else None,
                cwd=cwd,
                start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509  (two system calls, no lock)
            )

    @property
    def running(self) -> bool:
        return self.popen.poll() is None

    def wait_until(self, ready: Callable[[], bool], *, seconds: float) -> None:
        """Returns when `ready` says so. Raises ServerDied when the process ends before, or takes too long."""
        deadline = time.monotonic() + seconds
        while not ready():
            if not self.running:
                raise ServerDied(f"{self.name} ended with status {self.popen.returncode}.\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise ServerDied(f"{self.name} was not ready after {seconds:.0f} s.\n{self.log_tail()}")
            time.sleep(0.05)

    def log_tail(self, count: int = LOG_LINES) -> str:
        """The last lines that this run wrote."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            lines = log.read()[-20_000:].decode(errors="replace").splitlines()
        return "\n".join([f"Last lines of {self.log}:", *(f"  {line}" for line in lines[-count:])])

    def stop(self, *, seconds: float = 10) -> None:
        """Asks the process to end; kills its whole session when it does not."""
        if self.running:
            self.popen.send_signal(self.stop_signal)
            try:
                self.popen.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(self.popen.pid, signal.SIGKILL)
                self.popen.wait()
