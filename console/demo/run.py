"""One run of the demo, from the first server to the last process that ends."""

import http.client
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from console.demo import databases, processes, topics
from console.demo.child import Child
from console.demo.disputes.settings import Settings
from console.demo.place import Place
from console.demo.prepare import LIFE
from console.demo.supervisor import Supervisor
from console.demo.trouble import Trouble
from console.embedded import Addresses, MockKafka, Servers
from console.embedded.ports import demand_free, free_port
from console.embedded.process import Process
from console.embedded.progress import ProgressLine
from console.embedded.servers import Server
from console.environment import Environment

GLANCE = 0.2
WEB_SECONDS = 60.0


def process_of(server: Server) -> Process:
    """The process of a server that is running."""
    process: Process = getattr(server, "process")  # noqa: B009 - not every server has one
    return process


class Demo:
    """Use as a context manager: whatever happens inside, everything that was started has ended after it.

    With `any_ports` no port is fixed, so that nothing on the machine can be in the way. With `life` the first start
    begins with two weeks of history.
    """

    def __init__(self, environment: Environment, folder: Path, *, any_ports: bool, life: bool) -> None:
        self.environment = environment
        self.life = life
        self.any_ports = any_ports
        self.place = Place(folder)
        self.progress = ProgressLine(sys.stdout, prefix="demo: ")
        self.servers = Servers(environment, self.place.folder, fixed_ports=not any_ports, progress=self.progress)
        self.server_watch = Supervisor(self.progress)
        self.processes = Supervisor(self.progress)
        self.port = 0
        self.variables: dict[str, str] = {}

    def __enter__(self) -> "Demo":
        self.place.take()
        return self

    def __exit__(self, *_: object) -> None:
        if self.processes.children or self.servers.running:
            self.progress("ending everything that was started")
            self.processes.stop()
            self.servers.stop()
            self.progress("everything has ended\n")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def deaths(self) -> list[str]:
        """Names of the processes that died by themselves."""
        return self.server_watch.deaths + self.processes.deaths

    def start(self) -> None:
        """Start everything; returns when the console answers. Raises Trouble or EmbeddedError."""
        self.port = self._web_port()
        addresses = self.servers.launch()
        self.servers.wait()
        for server in self.servers.running:
            self._watch(server)
        sample = self._sample(addresses)
        self.variables = self._variables(addresses, sample)
        (topics.touch if self.servers.mock else topics.create)(addresses.kafka_bootstrap_servers)
        prepared = self._run("prepare", processes.PREPARE, self.progress, *([LIFE] if self.life else []))
        if prepared.popen.returncode:
            raise Trouble(f"the console could not be prepared. {prepared.log_tail()}")
        plain = processes.plain(addresses.kafka_bootstrap_servers)
        self._start({**processes.SERVICE, **plain, **processes.console(self.port)})
        self._wait_for_web()
        self.progress.clear()

    def look(self) -> None:
        """Name what has died and start what is due again."""
        self.server_watch.look()
        self.processes.look()

    def check(self, say: Callable[[str], None]) -> int:
        """Run the check beside everything else; its exit status, or 1 where a process died meanwhile."""
        status = self._run("check", processes.CHECK, say).popen.returncode
        for child in self.processes.children if status else []:
            say(child.process.log_tail(4) if child.process else f"{child.name} is not running")
        if self.deaths:
            say(f"CHECK FAILED: these processes died by themselves: {', '.join(self.deaths)}.")
        return status or (1 if self.deaths else 0)

    def _web_port(self) -> int:
        if self.any_ports:
            return free_port()
        demand_free(self.environment.web_port, variable="SIDING_WEB_PORT", server="the console")
        return self.environment.web_port

    def _watch(self, server: Server) -> None:
        """A server that dies is named and started again where it was; to end it is the business of `Servers`."""
        if isinstance(server, MockKafka):
            return  # it is no process

        def again() -> Process:
            self.servers.launch_again(server)
            return process_of(server)

        self.server_watch.adopt(Child(server.name, again), process_of(server))

    def _sample(self, addresses: Addresses) -> Settings:
        anew = self.servers.mock  # a Kafka that has forgotten everything does not fit what is stored
        if anew and self.environment.given("database_url"):
            raise Trouble(
                "librdkafka's mock cluster does not fit your database: set SIDING_KAFKA_BOOTSTRAP_SERVERS, too"
            )
        return Settings(
            bootstrap_servers=addresses.kafka_bootstrap_servers,
            database_url=databases.service_database(addresses.database_url, anew=anew),
            model_url=f"http://127.0.0.1:{free_port()}",
            secret=self.place.secret("flow"),
        )

    def _variables(self, addresses: Addresses, sample: Settings) -> dict[str, str]:
        """What every process finds in its environment."""
        return {
            **addresses.variables(),
            **sample.variables(),
            "SIDING_ENVIRONMENT": "demo",
            "SIDING_SECRET_KEY": self.place.secret("sessions"),
            "SIDING_BASE_URL": self.url,
            "SIDING_FLOW_SECRETS": json.dumps({"disputes": sample.secret}),
            **({"SIDING_OUTBOUND_ALLOW": f"127.0.0.1:{free_port()}"} if self.any_ports else {}),  # the check's pager
        }

    def _start(self, commands: Mapping[str, Sequence[str]]) -> None:
        for name, arguments in commands.items():
            self.progress(f"starting {name}")
            self._log(name).write_bytes(b"")
            self.processes.start(Child(name, partial(self.process, name, arguments)))

    def _run(self, name: str, arguments: Sequence[str], say: Callable[[str], None], *more: str) -> Process:
        """Run a process to its end, and say what it says."""
        self._log(name).write_bytes(b"")
        process = self.process(name, [*arguments, str(self.place.folder), *more])
        try:
            processes.follow(process, say, self.look)
        finally:
            process.stop()
        return process

    def process(self, name: str, arguments: Sequence[str]) -> Process:
        """Start one more process with the same environment; its log is named after it."""
        return Process(name, arguments, log=self._log(name), env=self.variables, cwd=processes.ROOT)

    def _log(self, name: str) -> Path:
        return self.place.logs / f"{name}.log"

    def _wait_for_web(self) -> None:
        until = time.monotonic() + WEB_SECONDS
        self.progress("waiting for the console")
        while not self._answers():
            self.look()
            if time.monotonic() > until:
                raise Trouble(f"the console did not answer within {WEB_SECONDS:.0f} s: see {self._log('web')}")
            time.sleep(GLANCE)

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/signin")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
