"""The stand-in for the model, over real HTTP."""

import http.client
import json
import threading

import pytest

from console.demo.disputes.asking import ModelBusy, ModelFailed, ask
from console.demo.disputes.model import LONGEST, decide, limited, serve
from console.embedded.ports import free_port

EVENT = {"dispute_id": "dsp-1", "amount_cents": 120000, "reason": "fraud", "ledger_seq": 1}


@pytest.fixture
def url():
    server = serve(0)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _event(*, rate_limited):
    return next(event for n in range(99) if limited(event := {**EVENT, "ledger_seq": n}) == rate_limited)


def test_it_decides_the_same_about_the_same_event(url):
    event = _event(rate_limited=False)
    first = ask(url, json.dumps(event).encode())
    assert first == ask(url, json.dumps(event).encode()) == decide(event)
    assert first["verdict"] == "refund"
    assert {"model", "prompt", "policy"} <= first.keys()


def test_it_copies_what_it_does_not_understand():
    decision = decide({**EVENT, "amount_cents": "1200.00", "reason": "other"})
    assert (decision["amount_cents"], decision["reason"]) == ("1200.00", "other")


def test_some_events_are_rate_limited_once(url):
    event = json.dumps({**_event(rate_limited=True), "dispute_id": "dsp-1"}).encode()
    with pytest.raises(ModelBusy) as busy:
        ask(url, event)
    assert busy.value.retry_after == 1
    assert ask(url, event)["verdict"] in ("refund", "reject")


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b"[" * 100_000, b"x" * (LONGEST + 1)])
def test_what_is_no_event_is_refused(url, body):
    with pytest.raises(ModelFailed):
        ask(url, body)


def test_a_model_that_is_not_there_is_named():
    with pytest.raises(ModelFailed, match="no answer from the model at http"):
        ask(f"http://127.0.0.1:{free_port()}", b"{}")


def test_only_posts_are_answered(url):
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    connection.request("GET", "/decide")
    assert connection.getresponse().status == 501
    connection.close()
