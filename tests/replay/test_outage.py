"""Kafka goes away in the middle of a replay: it says so, waits, and goes on when it is back; nothing twice."""

import pytest

from parking.models import Cluster
from replay import run
from tests.replay.line import again, tick


@pytest.mark.slow
@pytest.mark.usefixtures("kafka_is_away")
def test_away_before_the_start_it_waits_and_starts_later(line, settings):
    usual, settings.REPLAY_LEASE_SECONDS = settings.REPLAY_LEASE_SECONDS, 6
    line.park("e1", "e2")
    line.decide("e1", "skip")
    replay = line.approved()
    Cluster.objects.update(bootstrap_servers="127.0.0.1:1")
    assert run.advance(replay.pk, owner="test") == run.LATER
    replay = again(replay)
    assert replay.state == "approved"
    assert "try again when Kafka is back" in replay.waiting_for
    settings.REPLAY_LEASE_SECONDS = usual
    Cluster.objects.update(bootstrap_servers=line.kafka)
    replay = line.play(replay)
    assert (replay.state, replay.waiting_for) == ("completed", "")


@pytest.mark.slow
@pytest.mark.usefixtures("kafka_is_away")
def test_away_in_the_middle_the_same_steps_are_sent_when_it_is_back(line, settings):
    line.change(window=1)
    line.park("e1", "e2", "e3")
    line.decide("e1", "skip")
    replay = tick(line.approved())
    usual, settings.REPLAY_LEASE_SECONDS = settings.REPLAY_LEASE_SECONDS, 6
    Cluster.objects.update(bootstrap_servers="127.0.0.1:1")
    line.serve()
    line.park_all()
    replay = tick(replay)
    assert line.steps(replay) == [("e1", "skipped"), ("e2", "in_flight"), ("e3", "pending")]
    assert "Kafka does not acknowledge" in replay.waiting_for
    replay = tick(replay)
    assert replay.steps.get(ordinal=2).sends == 1, "what nobody acknowledged is not counted again"
    settings.REPLAY_LEASE_SECONDS = usual
    Cluster.objects.update(bootstrap_servers=line.kafka)
    replay = line.play(replay)
    assert (replay.state, replay.waiting_for) == ("completed", "")
    assert line.effects() == [("e2", b"good e2"), ("e3", b"good e3")]
