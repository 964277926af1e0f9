"""What the demo makes before anything starts, and that the flow's file fits the service."""

import tomllib

import jsonschema_rs
import pytest
from django.conf import settings

from console.demo import databases, topics
from console.demo.disputes.events import MEMBERS
from console.demo.disputes.stories import Sender
from console.demo.prepare import FLOWS
from console.demo.trouble import Trouble
from console.environment import environment
from parking.topics import read


@pytest.mark.kafka
def test_topics_are_made_once_with_the_settings_that_the_gate_needs(kafka):
    topics.create(kafka)
    topics.create(kafka)
    source, parked, replay = (read({"bootstrap.servers": kafka}, name) for name in topics.GATED)
    assert source.max_message_bytes
    assert parked.max_message_bytes == replay.max_message_bytes == source.max_message_bytes + 262_144
    assert parked.cleanup_policy == replay.cleanup_policy == "delete"


def test_the_services_database_is_made_once():
    address = databases.service_database(str(environment().database_url))
    assert address == databases.service_database(str(environment().database_url))
    assert address.endswith("/disputes")


def test_a_wrong_password_is_one_clear_line():
    at = settings.DATABASES["default"]
    with pytest.raises(Trouble, match="is SIDING_DATABASE_URL right") as trouble:
        databases.service_database(f"postgresql://nobody:Tr0ub4dor@{at['HOST']}:{at['PORT']}/siding")
    assert "Tr0ub4dor" not in str(trouble.value)


def test_the_flow_takes_every_right_event_and_no_amendment_that_the_service_would_refuse():
    (flow,) = tomllib.loads(FLOWS.read_text())["flow"]
    schema = jsonschema_rs.validator_for(flow["schema"])
    sender = Sender(seed=1)
    for event_type in MEMBERS:
        right = sender.members(event_type, "acc-20417")
        assert schema.is_valid(right)
        for member in right:
            assert not schema.is_valid({**right, member: ["wrong"]}), (event_type, member)
