"""A reason that a person typed: the rules are parking's."""

from parking.reason import optional, required

__all__ = ["optional", "required"]
