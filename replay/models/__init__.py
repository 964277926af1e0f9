"""Replays and their steps."""

from replay.models.replay import Replay
from replay.models.step import Step

__all__ = ["Replay", "Step"]
