"""`python -m tests ARGS`: pytest, with the servers started before it takes over the terminal, so that one sees how far
the first download of Kafka is."""

import signal
import sys

import pytest

from console.embedded.errors import EmbeddedError
from console.environment import Misconfigured
from tests.servers import prepare

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended and removed
    try:
        prepare()
    except (EmbeddedError, Misconfigured) as error:
        sys.exit(str(error))
    sys.exit(pytest.main(sys.argv[1:]))
