"""The pager of the check believes what Standard Webhooks' own library signs, and nothing else."""

import urllib.error
import urllib.request
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from console.demo.check.pager import Pager, signed
from console.embedded.ports import free_port

SECRET, OTHER = "whsec_c3ludGhldGljIHNlY3JldCBvbmU=", "whsec_c3ludGhldGljIHNlY3JldCB0d28="
NOW = 1_796_041_643
BODY = '{"type": "incident.opened", "data": {}}'


def headers(secret=SECRET, body=BODY, at=NOW):
    signature = Webhook(secret).sign("msg_1", datetime.fromtimestamp(at, UTC), body)
    return {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": signature}


def test_a_right_signature_also_among_others():
    right = headers()
    assert signed(SECRET, right, BODY.encode(), NOW)
    both = right | {"webhook-signature": f"{headers(OTHER)['webhook-signature']} {right['webhook-signature']}"}
    assert signed(SECRET, both, BODY.encode(), NOW)


@pytest.mark.parametrize(
    ("given", "body", "now"),
    [
        (headers(OTHER), BODY, NOW),
        (headers(), BODY.replace("opened", "resolved"), NOW),
        (headers() | {"webhook-id": "msg_2"}, BODY, NOW),
        (headers(), BODY, NOW + 301),
        ({}, BODY, NOW),
        (headers() | {"webhook-signature": "v1,ü"}, BODY, NOW),
    ],
)
def test_anything_else_is_not(given, body, now):
    assert not signed(SECRET, given, body.encode(), now)


def test_it_answers_over_http_and_keeps_what_is_signed():
    with Pager(free_port()) as pager:
        pager.secret = SECRET

        def post(given):
            request = urllib.request.Request(pager.address, BODY.encode(), given)
            try:
                return urllib.request.urlopen(request, timeout=60).status
            except urllib.error.HTTPError as error:
                return error.code

        assert post(headers(at=int(datetime.now(UTC).timestamp()))) == 204
        assert post(headers(OTHER)) == 401
        assert (pager.types(), pager.refused) == (["incident.opened"], 1)
