"""`.env.example` and docs/settings.md say what `console.environment` says."""

import re
import shlex

import pytest

from console.environment import CHAPTERS, Environment, environment
from console.variables import LAST, MUST, ROOT, chapters, example, page, variable


@pytest.mark.parametrize(("name", "text"), [(".env.example", example), ("docs/settings.md", page)])
def test_the_file_is_what_the_class_says(name, text):
    assert (ROOT / name).read_text(encoding="utf-8") == text(), "run `make settings`"


def test_every_setting_has_its_chapter_and_its_meaning():
    found = list(chapters())
    assert [title for title, _ in found] == list(CHAPTERS.values())
    assert [name for _, fields in found for name, _ in fields] == list(Environment.model_fields)
    assert all(field.description for _, fields in found for _, field in fields)


def test_the_page_names_every_variable_once():
    named = re.findall(r"^\| `(\w+)` \|", page(), re.MULTILINE)
    assert named == [variable(name, field) for name, field in Environment.model_fields.items()]


@pytest.fixture
def read(monkeypatch):
    """read() → the settings that a process with the variables of `monkeypatch` would see."""

    def read():
        environment.cache_clear()
        return environment()

    yield read
    monkeypatch.undo()
    environment.cache_clear()


def test_the_example_is_read_as_the_defaults_that_it_claims(monkeypatch, read):
    """Whoever takes a # away without changing the value changes nothing."""
    for name in Environment.model_fields:
        monkeypatch.delenv(f"SIDING_{name.upper()}", raising=False)
    before = read()
    lines = re.findall(r"^(?:# )?(SIDING_\w+)=(.*)$", example(), re.MULTILINE)
    shown = {name for title, fields in chapters() if title != LAST for name, _ in fields}
    assert {name.removeprefix("SIDING_").lower() for name, _ in lines} == shown
    for name, value in lines:
        if name.removeprefix("SIDING_").lower() not in MUST:
            monkeypatch.setenv(name, "".join(shlex.split(value)))
    assert read() == before


def test_what_has_to_be_set_stands_open():
    opened = dict(re.findall(r"^(\w+)=(.*)$", example(), re.MULTILINE))
    assert opened == {"POSTGRES_PASSWORD": "", "SIDING_ENVIRONMENT": "production", "SIDING_SECRET_KEY": ""}
    assert all(len(line) <= 120 for line in example().splitlines())
