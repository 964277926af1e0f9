"""What Kafka says of topics during the history."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from parking import topics
from parking.topics import Topic


@contextmanager
def asked_once() -> Iterator[None]:
    """Each replay looks at its topic three times. Two weeks pass within seconds: meanwhile one answer stands."""
    ask = topics.read
    answers: dict[tuple[str, str], Topic] = {}

    def read(settings: Mapping[str, Any], topic: str, *, timeout: float = 10.0) -> Topic:
        place = (str(sorted(settings.items())), topic)
        if place not in answers:
            answers[place] = ask(settings, topic, timeout=timeout)
        return answers[place]

    topics.read = read
    try:
        yield
    finally:
        topics.read = ask
