"""A stand-in for the model that proposes decisions: `POST /decide` with an event gives a decision.

Deterministic, and like the real ones in three ways: it copies what it does not understand, it says which versions it
used, and it is sometimes rate limited (429 with Retry-After), here at the first question about every seventh dispute.
"""

import hashlib
import json
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import urlsplit

from console.demo.disputes.settings import settings

VERSIONS = {"model": "m-4.1", "prompt": "p-112", "policy": "2026-11"}
LONGEST = 1 << 20
REMEMBERED = 10_000


def decide(event: dict[str, Any]) -> dict[str, Any]:
    """The decision about one event: refunds what is below 5 000, and one in two above."""
    amount = event.get("amount_cents")
    small = isinstance(amount, int) and amount < 500_000
    verdict = "refund" if small or _number(event) % 2 else "reject"
    return {"verdict": verdict, "amount_cents": amount, "reason": event.get("reason"), **VERSIONS}


def limited(event: dict[str, Any]) -> bool:
    """Whether the first question about this event is answered by 429."""
    return _number(event) % 7 == 0


def _number(event: dict[str, Any]) -> int:
    text = f"{event.get('dispute_id')} {event.get('ledger_seq')}"
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked: ClassVar[OrderedDict[int, None]] = OrderedDict()

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        if not 0 < length <= LONGEST:
            self.close_connection = True  # the body is not read
            return self._say(413, {"title": f"expected a body of 1 to {LONGEST} bytes, arrived {length}"})
        try:
            event = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            return self._say(400, {"title": "expected one JSON object"})
        if limited(event) and self._is_first(_number(event)):
            return self._say(429, {"title": "too many questions"}, ("Retry-After", "1"))
        return self._say(200, decide(event))

    def _is_first(self, number: int) -> bool:
        first = number not in self.asked
        self.asked[number] = None
        if len(self.asked) > REMEMBERED:
            self.asked.popitem(last=False)
        return first

    def _say(self, status: int, answer: dict[str, Any], *headers: tuple[str, str]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the base class gives it
        """Answers are not worth a line each."""


def serve(port: int) -> ThreadingHTTPServer:
    """The server, bound to localhost (port 0: any free one); call `serve_forever`."""
    return ThreadingHTTPServer(("127.0.0.1", port), Answer)


def main() -> None:
    server = serve(urlsplit(settings().model_url).port or 0)
    print(f"model: answers on port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
