"""`python -m tests.mutants.table`: writes the table of docs/guarantees.md from the first lines of the patches."""

from collections.abc import Iterable

from tests.mutants.__main__ import HERE, ROOT, Mutant, read

PAGE = ROOT / "docs" / "guarantees.md"
MARK = "<!-- table: make guarantees -->\n"


def mutants() -> list[Mutant]:
    """All patches, by number of the guarantee, then by name."""
    found = [read(path) for path in HERE.glob("*.patch")]
    return sorted(found, key=lambda mutant: (number(mutant), mutant.guarantee, mutant.name))


def number(mutant: Mutant) -> int:
    """The number of the guarantee that the patch breaks."""
    return int(mutant.guarantee.split(".")[0])


def page(text: str, rows: Iterable[Mutant]) -> str:
    """The page with its table made anew; `text` is the page as it is."""
    lines = [f"| {row.guarantee} | `{row.test.removeprefix('tests/')}` | `{row.name}` |" for row in rows]
    head = ["| guarantee | test that tries to break it (under `tests/`) | patch |", "|---|---|---|"]
    return text.split(MARK, maxsplit=1)[0] + MARK + "\n" + "\n".join(head + lines) + "\n"


def main() -> None:
    PAGE.write_text(page(PAGE.read_text(), mutants()))


if __name__ == "__main__":
    main()
