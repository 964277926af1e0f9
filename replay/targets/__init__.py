"""Where a replay goes through: one module per target, chosen by the flow."""

from collections.abc import Sequence
from types import ModuleType

from parking.errors import Refused
from parking.models import Flow
from replay.plan import Planned
from replay.targets import gated, topic

BY_NAME = {Flow.Target.GATED: gated}


def of(flow: Flow) -> ModuleType:
    """The target of a flow: `check`, `send` and `release`. Raises Refused for one that cannot be replayed to yet."""
    try:
        return BY_NAME[Flow.Target(flow.target)]
    except KeyError:
        raise Refused(
            f"Flow {flow.name} has the target {flow.get_target_display()}: only gated flows replay."
        ) from None


def check(flow: Flow, planned: Sequence[Planned]) -> topic.Topic:
    """Whether the target can take these events now. Raises Refused (with what to do) or topic.Unreachable."""
    checked: topic.Topic = of(flow).check(flow, planned)
    return checked
