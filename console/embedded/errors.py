"""What can go wrong with a server of ours. Each message is for people: what, and what to do."""


class EmbeddedError(Exception):
    """A server could not be started or kept running."""


class PortBusy(EmbeddedError):
    """A fixed port is taken by somebody else."""


class ServerDied(EmbeddedError):
    """A server ended, or never became ready; the message ends with the last lines of its log."""


class NoJars(EmbeddedError):
    """Kafka's jars are neither kept here nor to be had from Maven's repository."""
