"""A receiver of pages: an HTTP server that believes only what is signed as Standard Webhooks 1.0 says."""

import base64
import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LATEST = 300  # seconds that a message may be old


def signed(secret: str, headers: dict[str, str], body: bytes, now: float) -> bool:
    """Whether one of the signatures is that of the secret (`whsec_…`), and the message is of now."""
    stamp = headers.get("webhook-timestamp", "")
    if not stamp.isdecimal() or abs(now - int(stamp)) > LATEST:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{headers.get('webhook-id', '')}.{stamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected.encode(), one.encode()) for one in given)


class Pager:
    """Listens on a port of this machine while it is used as a context manager. `secret` is that of the hook."""

    def __init__(self, port: int) -> None:
        self.secret = ""
        self.pages: list[dict[str, Any]] = []
        """Bodies of signed messages, in the order in which they came, each with its `id`."""
        self.refused = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/pages"

    def take(self, headers: dict[str, str], body: bytes) -> int:
        """The status to answer with."""
        if not signed(self.secret, headers, body, time.time()):
            self.refused += 1
            return 401
        self.pages.append({**json.loads(body), "id": headers["webhook-id"], "body": body.decode()})
        return 204

    def types(self) -> list[str]:
        return [page["type"] for page in self.pages]

    def __enter__(self) -> "Pager":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(pager: Pager) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(pager.take({name.lower(): value for name, value in self.headers.items()}, body))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing: what came is looked at."""

    return Handler
