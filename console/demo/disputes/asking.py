"""Asks the model for a decision, over HTTP."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit


class ModelBusy(Exception):
    """The model answered 429 or 503; `retry_after` is what it asked for, in seconds."""

    def __init__(self, status: int, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"the model answered {status} and asked to wait {retry_after:g} s")


class ModelFailed(Exception):
    """The model could not be reached, or its answer cannot be used."""


def ask(url: str, event: bytes, *, timeout: float = 5.0) -> dict[str, Any]:
    """The model's decision about one event (JSON). Raises ModelBusy or ModelFailed."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request("POST", "/decide", event, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise ModelFailed(f"no answer from the model at {url}: {type(error).__name__}: {error}") from None
    finally:
        connection.close()
    if answer.status in (429, 503):
        raise ModelBusy(answer.status, _seconds(answer.getheader("Retry-After")))
    return _decision(answer.status, body)


def _seconds(retry_after: str | None) -> float:
    try:
        return max(0.0, float(retry_after or 1))
    except ValueError:
        return 1.0


def _decision(status: int, body: bytes) -> dict[str, Any]:
    try:
        decision = json.loads(body)
    except ValueError:
        decision = None
    if status != 200 or not isinstance(decision, dict):
        raise ModelFailed(f"the model answered {status}: {body[:200]!r}")
    return decision
