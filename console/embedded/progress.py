"""A line that says what is being done."""

import sys
from collections.abc import Callable
from typing import TextIO

Progress = Callable[[str], None]


def silent(text: str) -> None:
    """Says nothing."""


class ProgressLine:
    """Shows the text that it is called with: on a terminal in one line that changes, elsewhere as lines of a log.

    A text that ends with a newline stays.
    """

    def __init__(self, stream: TextIO = sys.stderr, *, prefix: str = "") -> None:
        self.stream = stream
        self.prefix = prefix
        self.said = ""

    def __call__(self, text: str) -> None:
        subject = text.partition(":")[0]
        stays = text.endswith("\n")
        if self.stream.isatty():
            self.stream.write(f"\r\x1b[K{self.prefix}{text.strip()}" + ("\n" if stays else ""))
        elif stays or subject != self.said:  # not each of forty jars
            self.stream.write(f"{self.prefix}{text.strip()}\n")
        self.said = subject
        self.stream.flush()

    def clear(self) -> None:
        if self.stream.isatty():
            self.stream.write("\r\x1b[K")
            self.stream.flush()
