"""A schema registry for tests: the REST protocol that clients speak, on a port of this machine."""

import json
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

AVRO = {
    "type": "record", "name": "DisputeDecided", "namespace": "disputes", "fields": [
        {"name": "dispute_id", "type": "string"},
        {"name": "amount_cents", "type": "long"},
        {"name": "reason", "type": ["null", "string"], "default": None},
    ],
}  # fmt: skip


@dataclass
class SchemaRegistry:
    """`schemas` by number or GUID, `subjects` by (subject, version): what `GET` answers; `asked` are the paths.

    `user` ("name:password") has to be shown by those who ask. `answer` (status, body) is given instead of everything;
    `delay` seconds pass first; `drip` sends one byte a tenth of a second.
    """

    schemas: dict[int | str, dict[str, Any]] = field(default_factory=dict)
    subjects: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    user: str = ""
    answer: tuple[int, bytes] | None = None
    delay: float = 0.0
    drip: bool = False
    tls: ssl.SSLContext | None = None
    asked: list[str] = field(default_factory=list)

    def __enter__(self) -> "SchemaRegistry":
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                time.sleep(outer.delay)
                status, body = outer._answer(self.path, self.headers.get("Authorization", ""))
                self.send_response(status)
                self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    for piece in [body[at : at + 1] for at in range(len(body))] if outer.drip else [body]:
                        self.wfile.write(piece)
                        time.sleep(0.1 if outer.drip else 0)
                except OSError:
                    return  # who asked has gone

            def log_message(self, *_: object) -> None:
                """Nothing: tests read what is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if self.tls is not None:
            self._server.socket = self.tls.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def avro(self, number: int, schema: object) -> None:
        self.schemas[number] = {"schema": json.dumps(schema)}

    def _answer(self, path: str, authorization: str) -> tuple[int, bytes]:
        if self.answer is not None:
            return self.answer
        if self.user and authorization != self.user:
            return 401, b'{"error_code": 401, "message": "Unauthorized"}'
        parts = path.strip("/").split("/")
        found: Any = None
        if parts == ["schemas", "types"]:
            found = ["JSON", "PROTOBUF", "AVRO"]
        elif parts[:2] == ["schemas", "ids"]:
            found = self.schemas.get(int(parts[2]))
        elif parts[:2] == ["schemas", "guids"]:
            found = self.schemas.get(parts[2])
        elif parts[0] == "subjects":
            found = self.subjects.get((parts[1], int(parts[3])))
        if found is None:
            return 404, b'{"error_code": 40403, "message": "Schema not found"}'
        return 200, json.dumps(found).encode()


class Silence:
    """A port that takes connections and never says a word; `connections` counts them."""

    def __enter__(self) -> "Silence":
        self.connections = 0
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=100)
        self._kept: list[socket.socket] = []
        threading.Thread(target=self._take, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        for one in self._kept:
            one.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def _take(self) -> None:
        while True:
            try:
                self._kept.append(self._listening.accept()[0])
            except OSError:
                return
            self.connections += 1
