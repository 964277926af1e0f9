"""Where a replay goes through: one module per target, chosen by the flow."""

from collections.abc import Sequence
from types import ModuleType

from parking.errors import Refused
from parking.models import Flow
from replay.plan import Planned
from replay.targets import gated, plain, topic

BY_NAME = {Flow.Target.GATED: gated, Flow.Target.PLAIN: plain}


def of(flow: Flow) -> ModuleType:
    """The target of a flow: `check` and `send`, and `release` where the consumer has the gate."""
    return BY_NAME[Flow.Target(flow.target)]


def check(flow: Flow, planned: Sequence[Planned]) -> topic.Topic:
    """Whether the target can take these events now. Raises Refused (with what to do) or topic.Unreachable."""
    checked: topic.Topic = of(flow).check(flow, planned)
    return checked


def warnings(flow: Flow, planned: Sequence[Planned]) -> list[str]:
    """What a replay of these events would not guarantee, and where they would go if that is not where they came from.

    One sentence each, for the plan's page; none for a flow with the gate. Asks Kafka, and says so if it is away.
    """
    if flow.gated:
        return []
    try:
        partitions = topic.read(flow.cluster, flow.replays_to).partitions
    except Refused as error:
        return [*plain.not_guaranteed(flow), str(error)]
    return [*plain.not_guaranteed(flow), *plain.notes(flow, planned, partitions)]
