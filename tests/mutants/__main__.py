"""`python -m tests.mutants [NAME…]`: shows that the test of each guarantee can fail.

Each patch in this folder breaks the code behind one guarantee. Its first lines say which, and which test tells:

    # guarantee: 4. Order per key
    # test: tests/parking/consumer/test_release.py::test_an_event_held_meanwhile_keeps_the_key_closed

The named test must pass on the tree as it is and fail on a copy with the patch. A patch that no longer applies is an
error, and so is a patch that keeps the test from running at all: code that does not even start proves nothing.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from console.embedded.errors import EmbeddedError
from console.embedded.progress import ProgressLine
from console.embedded.servers import Servers
from console.environment import environment

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PASSED, FAILED = "passed", "failed"
SECONDS = 300


@dataclass(frozen=True)
class Mutant:
    path: Path
    guarantee: str
    test: str

    @property
    def name(self) -> str:
        return self.path.stem


def main(names: list[str]) -> int:
    mutants = [read(path) for path in sorted(HERE.glob("*.patch")) if not names or path.stem in names]
    if not mutants:
        print(f"no such patch in {HERE.relative_to(ROOT)}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="siding-mutants-") as scratch:
        servers = Servers(environment(), Path(scratch) / "servers", progress=ProgressLine(prefix="mutants: "))
        try:
            variables = {**os.environ, **servers.start().variables()}
            return report(mutants, judge_all(mutants, Path(scratch), variables))
        except EmbeddedError as error:
            print(error, file=sys.stderr)
            return 1
        finally:
            servers.stop()


def read(path: Path) -> Mutant:
    head = dict(re.findall(r"^# (guarantee|test): (.+)$", path.read_text(), re.MULTILINE))
    if set(head) != {"guarantee", "test"}:
        sys.exit(f"{path.name}: the lines '# guarantee: …' and '# test: …' were expected at its top")
    return Mutant(path, head["guarantee"], head["test"])


def judge_all(mutants: list[Mutant], scratch: Path, variables: Mapping[str, str]) -> list[str]:
    """One verdict for each mutant, in order; empty where all is well."""
    (scratch / "shared").symlink_to(ROOT.parent / "shared")  # some tests read vectors beside the repository
    say = ProgressLine(prefix="mutants: ")
    tests = sorted({mutant.test for mutant in mutants})
    say(f"{len(tests)} tests on the tree as it is")
    whole = copy(scratch / "whole")
    sound = run(whole, tests, variables) == PASSED
    failing = set() if sound else {test for test in tests if run(whole, [test], variables) != PASSED}

    def verdict(mutant: Mutant) -> str:
        return "its test fails without the patch" if mutant.test in failing else judge(mutant, scratch, variables)

    verdicts = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, fault in enumerate(pool.map(verdict, mutants), 1):
            verdicts.append(fault)
            say(f"{number} of {len(mutants)} patches")
    say.clear()
    return verdicts


def judge(mutant: Mutant, scratch: Path, variables: Mapping[str, str]) -> str:
    tree = copy(scratch / mutant.name)
    patch = ["git", "apply", "--whitespace=nowarn", str(mutant.path)]
    applied = subprocess.run(patch, cwd=tree, capture_output=True, text=True, check=False)
    if applied.returncode:
        return f"does not apply: {applied.stderr.strip().splitlines()[0]}"
    outcome = run(tree, [mutant.test], variables)
    shutil.rmtree(tree)
    return {FAILED: "", PASSED: "SURVIVED: its test passes all the same"}.get(outcome, f"no verdict: {outcome}")


def copy(to: Path) -> Path:
    """The files that git knows or would add, without .git: what is on the disk, committed or not."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    return to


def run(tree: Path, tests: Iterable[str], variables: Mapping[str, str]) -> str:
    """What became of these tests in that tree: PASSED, FAILED, or pytest's closing line where it is neither."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--color=no", *tests]
    pytest = subprocess.Popen(
        command, cwd=tree, env=variables, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        said, _ = pytest.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(pytest.pid, signal.SIGKILL)
        pytest.communicate()
        return FAILED  # broken code may well wait for ever
    closing = (said.strip().splitlines() or ["it said nothing"])[-1]
    if pytest.returncode == 0 and " passed" in closing:
        return PASSED
    return FAILED if pytest.returncode == 1 and " failed" in closing and " error" not in closing else closing


def report(mutants: list[Mutant], verdicts: list[str]) -> int:
    width = max(len(mutant.name) for mutant in mutants)
    for mutant, fault in zip(mutants, verdicts, strict=True):
        print(f"{'killed' if not fault else 'ERROR ':6}  {mutant.name:{width}}  {mutant.guarantee}")
        print(f"{'':8}{'':{width}}  {fault or mutant.test}")
    survivors = sum(map(bool, verdicts))
    print(f"{len(mutants) - survivors} passed, {survivors} failed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
