"""All three servers together: each is either the one whose address is set, or one of our own."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from console.embedded.errors import NoJars
from console.embedded.kafka import Kafka
from console.embedded.mock_kafka import MockKafka
from console.embedded.ports import demand_free
from console.embedded.postgres import Postgres
from console.embedded.progress import Progress, silent
from console.embedded.redis import Redis
from console.environment import Environment


class Server(Protocol):
    name: str
    address: str

    def launch(self, data_dir: Path) -> None: ...
    def wait(self) -> None: ...
    def stop(self) -> None: ...


@dataclass(frozen=True)
class Addresses:
    database_url: str
    redis_url: str
    kafka_bootstrap_servers: str

    def variables(self) -> dict[str, str]:
        """As environment variables: what every process of ours reads."""
        return {
            "SIDING_DATABASE_URL": self.database_url,
            "SIDING_REDIS_URL": self.redis_url,
            "SIDING_KAFKA_BOOTSTRAP_SERVERS": self.kafka_bootstrap_servers,
        }


@dataclass
class Servers:
    """`launch` starts what is not set and knows the addresses at once; `wait` returns when all answer; `stop` ends
    them. With `fixed_ports` those of the settings are used, and a busy one is an error; else any free one."""

    environment: Environment
    data_dir: Path
    fixed_ports: bool = False
    progress: Progress = silent
    running: list[Server] = field(default_factory=list)
    mock: bool = False

    def start(self) -> Addresses:
        addresses = self.launch()
        self.wait()
        return addresses

    def launch(self) -> Addresses:
        """Raises EmbeddedError; what was started until then is stopped."""
        try:
            return Addresses(
                self._own("database_url", lambda: Postgres(self._port("postgres"))),
                self._own("redis_url", lambda: Redis(self._port("redis"))),
                self._own("kafka_bootstrap_servers", self._kafka),
            )
        except BaseException:
            self.stop()
            raise

    def wait(self) -> None:
        for server in self.running:
            self.progress(f"waiting for {server.name}")
            server.wait()

    def stop(self) -> None:
        while self.running:
            self.running.pop().stop()

    def launch_again(self, server: Server) -> None:
        """For a server that died: starts it on the same data, at the same address."""
        server.launch(self._data(server))

    def _data(self, server: Server) -> Path:
        return self.data_dir / type(server).__name__.lower()

    def _own(self, setting: str, make: Callable[[], Server]) -> str:
        if self.environment.given(setting):
            return str(getattr(self.environment, setting))
        server = make()
        self.progress(f"starting {server.name}")
        try:
            server.launch(self._data(server))
        except NoJars as reason:
            self.progress(f"{reason}. {MockKafka.name} stands in: all topics are forgotten at exit.\n")
            server, self.mock = MockKafka(), True
            server.launch(self.data_dir)
        self.running.append(server)
        return server.address

    def _kafka(self) -> Kafka:
        return Kafka(self._port("kafka"), cache_dir=self.environment.cache_dir, progress=self.progress)

    def _port(self, server: str) -> int | None:
        if not self.fixed_ports:
            return None
        port: int = getattr(self.environment, f"{server}_port")
        demand_free(port, variable=f"SIDING_{server.upper()}_PORT", server=server.capitalize())
        return port
