"""The kit as a package of its own: in an environment that has nothing but what it asks for, it is there and works."""

import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distribution, distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import importlib, importlib.util, pkgutil, sys
import parking.consumer as kit
ledger = kit.SqliteLedger(sys.argv[1])
ledger.prepare()
ledger.check()
flow = kit.Flow(name="f", source_topic="s", parking_topic="p", replay_topic="r", consumer_group="g")
kit.KeyedConsumer(flow, ledger, lambda event: None, kafka={"bootstrap.servers": "localhost:1"})
assert all(hasattr(kit, name) for name in kit.__all__ if name != "PostgresLedger")
others = ("django", "psycopg", "celery", "redis", "jsonschema_rs", "parking.models", "console")
assert not [name for name in others if importlib.util.find_spec(name)]
print(kit.__file__)
"""


@pytest.mark.slow
def test_a_fresh_environment_with_only_what_the_kit_asks_for(tmp_path: Path) -> None:
    tree = tmp_path / "tree"  # building leaves things behind
    shutil.copytree(ROOT / "parking", tree / "parking", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "kit", tree / "kit")
    pip(sys.executable, "wheel", "--no-build-isolation", "--wheel-dir", tmp_path, tree / "kit")
    (wheel,) = tmp_path.glob("siding_kit-*.whl")
    fresh = tmp_path / "fresh"
    venv.create(fresh, with_pip=True, symlinks=True)
    python = fresh / "bin/python"
    pip(python, "install", wheel)
    packages = next(fresh.glob("lib/python*/site-packages"))
    for name in asked_for(packages):
        bring(name, packages)
    checked = subprocess.run([python, "-m", "pip", "check"], capture_output=True, text=True, timeout=300, check=False)
    assert "siding-kit" not in checked.stdout, "it lacks nothing that it asks for"
    run = subprocess.run(
        [python, "-I", "-c", PROGRAM, tmp_path / "ledger.db"], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.stderr == ""
    assert run.stdout.startswith(str(packages))


def pip(python: str | Path, command: str, *rest: str | Path) -> None:
    """Run pip as a service would, but without a package index, which tests may not have."""
    every: list[str | Path] = [python, "-m", "pip", "--quiet", command, "--no-index", "--no-deps", *rest]
    done = subprocess.run(every, timeout=300, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def asked_for(packages: Path) -> list[str]:
    """What the installed kit says that it needs, extras aside."""
    (kit,) = distributions(name="siding-kit", path=[str(packages)])
    return [each.partition(">")[0] for each in kit.requires or () if "extra ==" not in each]


def bring(name: str, packages: Path) -> None:
    """What pip would install, from where these tests run."""
    here = Path(str(distribution(name).locate_file("")))
    for top in {file.parts[0] for file in distribution(name).files or () if ".." not in file.parts}:
        if (here / top).is_dir():
            shutil.copytree(here / top, packages / top, dirs_exist_ok=True)


def test_its_version_and_floors_are_those_of_the_project() -> None:
    kit = tomllib.loads((ROOT / "kit/pyproject.toml").read_text())["project"]
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    floors = {each.partition(">")[0].partition("[")[0]: each.partition(">")[2] for each in whole["dependencies"]}
    asked = [*kit["dependencies"], *kit["optional-dependencies"]["postgresql"], *kit["optional-dependencies"]["schema"]]
    assert kit["version"] == whole["version"]
    for each in asked:
        name = each.partition(">")[0].partition("[")[0]
        assert each.partition(">")[2].split(",")[0] == floors[name].split(",")[0], name
    assert sys.version_info >= (3, 11)
