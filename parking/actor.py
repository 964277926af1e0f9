"""Who does something: a person or one of our processes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Actor:
    """`id` is `user:<primary key>` or `system:<process>`; `name` is for people. The same id is the same person."""

    id: str
    name: str


def system(process: str) -> Actor:
    """One of our own processes: `intake`, `watch`, `worker`, …"""
    return Actor(f"system:{process}", process)
