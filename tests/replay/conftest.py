"""One line per test; see tests/replay/line.py."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.db import connection

from tests.replay.line import Line
from tests.replay.line import line as a_line


@pytest.fixture
def make_line(
    transactional_db: None, kafka: str, make_topic: Callable[..., str], tmp_path: Path
) -> Iterator[Callable[..., Line]]:
    """make_line(**fields of the flow) → a Line."""
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(a_line(kafka, make_topic, tmp_path, **changes))


@pytest.fixture
def line(make_line: Callable[..., Line]) -> Line:
    return make_line()


@pytest.fixture
def at_once() -> Callable[..., list[object]]:
    """at_once(20, work) → what work(0) … work(19) returned or raised, all started at the same moment."""

    def all_at_once(count: int, work: Callable[[int], object]) -> list[object]:
        barrier = threading.Barrier(count)

        def one(number: int) -> object:
            try:
                barrier.wait()
                return work(number)
            except Exception as error:
                return error
            finally:
                connection.close()

        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(one, range(count)))

    return all_at_once
