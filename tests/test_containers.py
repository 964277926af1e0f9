"""compose.yaml and the Containerfile name what is there: commands, variables, files, packages. Nothing is started."""

import json
import re
import shlex
import sys
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.metadata import requires
from importlib.util import find_spec, module_from_spec, spec_from_loader
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from console import alive
from console.demo import processes
from console.demo.disputes.settings import Settings
from console.environment import Environment, environment
from console.variables import example

ROOT = processes.ROOT
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
CONTAINERFILE = re.sub(r"\\\n", " ", (ROOT / "Containerfile").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "siding"}
SAMPLE = {name: service for name, service in OURS.items() if service.get("profiles") == ["sample"]}
SETTINGS = {f"SIDING_{name.upper()}" for name in Environment.model_fields}


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.+)$", CONTAINERFILE, re.MULTILINE)


def contained(command: tuple[str, ...]) -> list[str]:
    """A command of the demo as it is in a container: any address, the Python on the path."""
    return ["python" if word == sys.executable else word.replace("127.0.0.1:", "0.0.0.0:") for word in command]


def runtime() -> Any:
    spec = spec_from_loader("runtime", SourceFileLoader("runtime", str(ROOT / "bin/runtime")))
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(module := module_from_spec(spec))
    return module


def test_every_process_runs_by_its_command():
    expected = {name: contained(command) for name, command in processes.console(8000).items()}
    expected["migrate"] = ["python", "manage.py", "migrate", "--noinput"]
    found = {name: shlex.split(service["command"]) for name, service in OURS.items() if name not in SAMPLE}
    assert found == expected


def test_the_page_on_running_names_every_process_with_its_command():
    page = (ROOT / "docs/running.md").read_text(encoding="utf-8")
    named = {
        name: set(shlex.split(command))
        for name, command in re.findall(r"^\| (\w+) \| `([^`]+)` \|", page, re.MULTILINE)
    }
    expected = {name: set(contained(command)) for name, command in processes.console(8000).items()}
    assert set(named) == set(expected)
    assert all(named[name] <= expected[name] for name in expected)


def test_the_sample_runs_by_its_commands():
    services = [*processes.SERVICE.values(), *processes.plain("kafka:9092").values()]
    expected = [contained(command) for command in services] + [["python", "-m", "console.demo.contained", "/sample"]]
    found = [shlex.split(service["command"]) for service in SAMPLE.values()]
    assert sorted(found) == sorted(expected)
    assert all(find_spec(command[2]) for command in found)


def test_everything_waits_for_the_migrations_and_for_nothing_that_may_be_away():
    waits = {name: set(service["depends_on"]) for name, service in OURS.items() if name not in SAMPLE}
    assert waits.pop("migrate") == {"postgres"}
    assert all(each == {"migrate"} for each in waits.values())
    assert all(set(service["depends_on"]) <= set(SERVICES) for service in OURS.values())


def test_every_variable_is_one_that_is_read():
    named = {name for service in OURS.values() for name in service["environment"]}
    sample = {f"DISPUTES_{name.upper()}" for name in Settings.__annotations__}
    assert named - sample <= SETTINGS
    assert {name for service in SAMPLE.values() for name in service["environment"]} >= sample
    assert set(re.findall(r"SIDING_[A-Z_]+", COMPOSE + CONTAINERFILE)) <= SETTINGS


def test_what_has_no_default_is_asked_for_by_the_example():
    asked = set(re.findall(r"^(\w+)=", example(), re.MULTILINE))
    assert set(re.findall(r"\$\{(\w+)(?:\}|:\?)", COMPOSE)) <= asked


def test_the_addresses_are_valid_settings(monkeypatch: pytest.MonkeyPatch):
    given = OURS["web"]["environment"]
    with monkeypatch.context() as patch:
        for name, value in given.items():
            patch.setenv(name, re.sub(r"\$\{POSTGRES_PASSWORD[^}]*\}", "secret", value))
        environment.cache_clear()
        assert environment().database_url == "postgresql://siding:secret@postgres:5432/siding"
    environment.cache_clear()


def test_every_health_check_asks_about_its_own_process():
    asked = {
        name: service["healthcheck"]["test"][-1] for name, service in OURS.items() if "test" in service["healthcheck"]
    }
    assert asked == {name: name for name in ("web", *alive.WITH_BEATS)}
    assert all(service["healthcheck"] == {"disable": True} for name, service in OURS.items() if name not in asked)


def test_the_servers_are_those_that_the_project_names():
    images = {name: service["image"].rpartition("/")[2].partition(":")[0] for name, service in SERVICES.items()}
    assert {name: image for name, image in images.items() if name not in OURS} == {
        "postgres": "postgres",
        "redis": "redis",
        "kafka": "kafka",
    }
    assert SERVICES["kafka"]["image"].startswith("docker.io/apache/kafka:")


def test_the_image_copies_what_is_there_and_what_is_let_in():
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {source for copy in instructions("COPY") if "--from" not in copy for source in copy.split()[:-1]}
    assert copied == let_in
    assert all((ROOT / source).exists() for source in copied)


def test_the_image_runs_the_web_process_as_nobody_in_particular():
    (command,) = instructions("CMD")
    assert json.loads(command) == contained(processes.console(8000)["web"])
    assert instructions("USER") == ["10001"]
    assert CONTAINERFILE.index("USER 10001") > CONTAINERFILE.rindex("FROM ")


def test_the_image_has_what_the_processes_need_and_nothing_else():
    """The part of the lock is closed under what each package says that it needs, and has no package too many."""
    module = runtime()
    chosen = module.runtime((ROOT / "pyproject.toml").read_text(), (ROOT / "requirements.lock").read_text())
    needed = set[str]()
    waiting = [
        Requirement(each) for each in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    ]
    seen = set[str]()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        needed.add(name)
        for extra in ("", *requirement.extras):
            if (mark := f"{name}[{extra}]") not in seen:
                seen.add(mark)
                found = [Requirement(each) for each in requires(name) or ()]
                waiting += [each for each in found if each.marker is None or each.marker.evaluate({"extra": extra})]
    elsewhere = {name for name, entry in chosen.items() if " ; " in entry.splitlines()[0]}  # for other systems
    assert needed <= set(chosen) <= needed | elsewhere
    assert all("--hash=sha256:" in entry for entry in chosen.values())
