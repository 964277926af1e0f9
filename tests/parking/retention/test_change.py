"""An owner changes how long a flow is kept."""

import pytest

from parking.actor import Actor
from parking.errors import Refused
from parking.models import Flow, JournalEntry
from parking.retention.change import change_retention
from tests.alarm_story import make_flow

OWNER = Actor("user:7", "Owner Seven")


@pytest.fixture
def flow(db):
    return make_flow("orders")


def test_the_days_are_changed_and_the_journal_tells_from_what(flow):
    change_retention(flow_id=flow.pk, payload_days=10, metadata_days=90, actor=OWNER, reason="less is kept")
    assert Flow.objects.values_list("payload_days", "metadata_days").get(pk=flow.pk) == (10, 90)
    entry = JournalEntry.objects.get(verb="change retention")
    assert entry.detail == {"changed": {"payload_days": [30, 10], "metadata_days": [365, 90]}}
    assert entry.reason == "less is kept"


@pytest.mark.parametrize(
    ("payload", "metadata", "reason", "said"),
    [
        (10, 90, " ", "A reason is needed"),
        (0, 90, "x", "from 1 to 36500"),
        (10, 36_501, "x", "from 1 to 36500"),
        (90, 10, "x", "at least as long"),
        (30, 365, "x", "nothing would change"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(flow, payload, metadata, reason, said):
    with pytest.raises(Refused, match=said):
        change_retention(flow_id=flow.pk, payload_days=payload, metadata_days=metadata, actor=OWNER, reason=reason)
    assert Flow.objects.values_list("payload_days", "metadata_days").get(pk=flow.pk) == (30, 365)
    assert not JournalEntry.objects.filter(verb="change retention").exists()
