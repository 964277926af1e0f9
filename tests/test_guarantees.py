"""docs/guarantees.md tells the truth: every guarantee has a mutant, and the table is that of the patches."""

import subprocess

from tests.mutants import table
from tests.mutants.__main__ import ROOT, Mutant


def test_the_table_is_that_of_the_patches() -> None:
    text = table.PAGE.read_text()
    assert table.page(text, table.mutants()) == text, "run `make guarantees`"


def test_every_guarantee_has_a_mutant() -> None:
    assert {table.number(mutant) for mutant in table.mutants()} == set(range(1, 11))


def test_every_named_test_exists() -> None:
    for mutant in table.mutants():
        path, name = mutant.test.split("::")
        assert f"def {name.split('[')[0]}(" in (ROOT / path).read_text(), mutant.name


def test_every_patch_applies() -> None:
    stale = [mutant.name for mutant in table.mutants() if not _applies(mutant)]
    assert not stale, "the code has moved: write these patches anew"


def _applies(mutant: Mutant) -> bool:
    command = ["git", "apply", "--check", str(mutant.path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0
