"""Kafka's jars: those of jgo.lock.toml, each checked by its SHA-256, fetched once into a folder of the cache.

The folder appears under its name only when it is complete, so that two starts at once, or one that was interrupted,
leave nothing broken.
"""

import fcntl
import hashlib
import ssl
import tempfile
import tomllib
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import certifi
from jgo.maven import MavenContext

from console.embedded.errors import NoJars
from console.embedded.progress import Progress

LOCK = Path(__file__).with_name("jgo.lock.toml")
AT_ONCE = 6
SECONDS = 20  # without a byte

Jar = dict[str, Any]


def jars(cache_dir: Path, progress: Progress) -> Path:
    """The folder with all jars, fetched if it is not there. Raises NoJars."""
    wanted: list[Jar] = tomllib.loads(LOCK.read_text())["dependencies"]
    digest = hashlib.sha256("".join(jar["sha256"] for jar in wanted).encode()).hexdigest()
    folder = cache_dir / f"kafka-{digest[:16]}"
    if folder.exists():
        return folder
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with _alone(cache_dir / "fetching.lock"):
            if not folder.exists():
                _fetch_all(wanted, folder, progress)
    except (OSError, HTTPException) as error:
        raise NoJars(f"Kafka's jars cannot be fetched from Maven's repository: {_first_line(error)}") from error
    return folder


def _fetch_all(wanted: list[Jar], folder: Path, progress: Progress) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetching-") as scratch:
        complete = Path(scratch) / "complete"
        complete.mkdir()
        trust = ssl.create_default_context()  # the system's certificates and SSL_CERT_FILE …
        trust.load_verify_locations(certifi.where())  # … and where the system has none
        with ThreadPoolExecutor(AT_ONCE) as pool:
            size = 0
            for number, more in enumerate(pool.map(lambda jar: _fetch(jar, complete, trust), wanted), 1):
                size += more
                progress(f"fetching Apache Kafka: {number} of {len(wanted)} jars, {size / 1e6:.0f} MB")
        complete.rename(folder)


def _fetch(jar: Jar, complete: Path, trust: ssl.SSLContext) -> int:
    """Puts one jar into `complete`; returns its size. Raises NoJars where it is not what the lock file says."""
    maven = MavenContext()
    artifact = maven.project(jar["groupId"], jar["artifactId"]).at_version(jar["version"]).artifact()
    (repository,) = maven.remote_repos.values()
    url = f"{repository}/{artifact.component.path_prefix}/{artifact.filename}"
    with urllib.request.urlopen(url, timeout=SECONDS, context=trust) as response:  # noqa: S310  (https, jgo's constant)
        content: bytes = response.read()
    if hashlib.sha256(content).hexdigest() != jar["sha256"]:
        raise NoJars(f"{artifact.filename} is not the file that {LOCK.name} names: its SHA-256 differs")
    (complete / artifact.filename).write_bytes(content)
    return len(content)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Waits until no other process is here; a process that dies leaves, too."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
