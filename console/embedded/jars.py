"""Kafka's jars: those of jgo.lock.toml, each checked by its SHA-256, fetched once into a folder of the cache.

The folder appears under its name only when it is complete, so that two starts at once, or one that was interrupted,
leave nothing broken.
"""

import fcntl
import hashlib
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jgo.maven import MavenContext

from console.embedded.errors import NoJars
from console.embedded.progress import Progress

LOCK = Path(__file__).with_name("jgo.lock.toml")
AT_ONCE = 6

Jar = dict[str, Any]


def jars(cache_dir: Path, progress: Progress) -> Path:
    """The folder with all jars, fetched if it is not there. Raises NoJars."""
    content = LOCK.read_bytes()
    folder = cache_dir / f"kafka-{hashlib.sha256(content).hexdigest()[:16]}"
    if folder.exists():
        return folder
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with _alone(cache_dir / "fetching.lock"):
            if not folder.exists():
                _fetch_all(tomllib.loads(content.decode())["dependencies"], folder, progress)
    except OSError as error:  # requests' errors are of this kind, too
        raise NoJars(f"Kafka's jars cannot be fetched from Maven's repository: {_first_line(error)}") from error
    return folder


def _fetch_all(wanted: list[Jar], folder: Path, progress: Progress) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetching-") as scratch:
        complete = Path(scratch) / "complete"
        complete.mkdir()
        context = MavenContext(repo_cache=Path(scratch) / "repository", timeout=20)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            fetched = pool.map(lambda jar: _fetch(jar, context, complete), wanted)
            size = 0
            for number, bytes_more in enumerate(fetched, 1):
                size += bytes_more
                progress(f"fetching Apache Kafka: {number} of {len(wanted)} jars, {size / 1e6:.0f} MB")
        complete.rename(folder)


def _fetch(jar: Jar, context: MavenContext, complete: Path) -> int:
    """Puts one jar into `complete`; returns its size. Raises NoJars where it is not what the lock file says."""
    component = context.project(jar["groupId"], jar["artifactId"]).at_version(jar["version"])
    try:
        path = component.artifact(jar.get("classifier", "")).resolve()
    except RuntimeError as error:  # jgo's word for "no repository has it", or "another SHA-1"
        raise NoJars(f"{jar['artifactId']} {jar['version']} cannot be fetched: {_first_line(error)}") from error
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != jar["sha256"]:
        raise NoJars(f"{path.name} is not the file that {LOCK.name} names: its SHA-256 differs")
    shutil.move(path, complete / path.name)
    return len(content)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Waits until no other process is here; a process that dies leaves, too."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
