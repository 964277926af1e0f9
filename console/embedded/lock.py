"""`python -m console.embedded.lock` resolves jgo.toml and writes jgo.lock.toml anew."""

import sys
import tempfile
from pathlib import Path

from jgo.env import EnvironmentBuilder, EnvironmentSpec, LockFile
from jgo.maven import MavenContext

PATH = Path(__file__).with_name("jgo.lock.toml")

with tempfile.TemporaryDirectory() as scratch:
    builder = EnvironmentBuilder(context=MavenContext(repo_cache=Path(scratch)), cache_dir=Path(scratch))
    lock = builder.resolve_lockfile(EnvironmentSpec.load_or_error(PATH.with_name("jgo.toml")))
    # Written anew only where a jar differs: the file also has a time in it.
    if [jar.to_dict() for jar in lock.dependencies] != [jar.to_dict() for jar in LockFile.load(PATH).dependencies]:
        lock.save(PATH)
    sys.stdout.write(f"{PATH.name}: {len(lock.dependencies)} jars\n")
