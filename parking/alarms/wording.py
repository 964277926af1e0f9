"""What an incident is called in one line: the flow and its topic, what was measured, from when on it rings."""

from parking.models import AlarmRule


def opened(rule: AlarmRule, value: int, *, at_least: bool = False) -> str:
    """The summary of an incident that a rule opens; `value` is what was measured."""
    if rule.flow is None:
        return (
            f"Intake has given no sign of life for {duration(value)}: what is parked now is not seen, and no alarm of "
            f"team {rule.team.name} can resolve"
        )
    topic = f"topic {rule.flow.source_topic}"
    if rule.measure == AlarmRule.Measure.DEPTH:
        number = f"{'at least ' if at_least else ''}{value}"
        return f"{rule.flow.name}: {number} events wait, poison and held (alarm from {rule.threshold} on; {topic})"
    return (
        f"{rule.flow.name}: the oldest unsettled event was parked {duration(value)} ago "
        f"(alarm from {duration(rule.threshold)} on; {topic})"
    )


def resolved(rule: AlarmRule, value: int) -> str:
    """Why an incident of this rule is over."""
    if rule.flow is None:
        return "intake gives signs of life again"
    if rule.measure == AlarmRule.Measure.DEPTH:
        return f"{value} events wait; over at {rule.resolve_at} or fewer"
    if value == 0:
        return "nothing waits any more"
    return f"the oldest unsettled event was parked {duration(value)} ago; over at {duration(rule.resolve_at)}"


def duration(seconds: int) -> str:
    """`45 s`, `12 m`, `4 h`, `3 h 12 m`, `2 d 4 h`."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds} s"
    if hours < 1:
        return f"{minutes} m"
    if days < 2:
        return f"{hours} h {minutes % 60} m".removesuffix(" 0 m")
    return f"{days} d {hours % 24} h".removesuffix(" 0 h")
