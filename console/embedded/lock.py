"""`python -m console.embedded.lock` resolves jgo.toml and writes jgo.lock.toml anew."""

import sys
import tempfile
from pathlib import Path

from jgo.env import EnvironmentBuilder, EnvironmentSpec
from jgo.maven import MavenContext

HERE = Path(__file__).parent

with tempfile.TemporaryDirectory() as scratch:
    builder = EnvironmentBuilder(context=MavenContext(repo_cache=Path(scratch)), cache_dir=Path(scratch))
    lock = builder.resolve_lockfile(EnvironmentSpec.load_or_error(HERE / "jgo.toml"))
    lock.save(HERE / "jgo.lock.toml")
    sys.stdout.write(f"jgo.lock.toml: {len(lock.dependencies)} jars\n")
