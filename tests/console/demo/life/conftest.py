"""The demo's flows, declared as the demo does it, and the people who act in the history."""

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from console.demo import prepare, topics
from console.demo.life.tell import tell
from parking.actor import Actor
from tests import servers

NAMES = {"oncall": "On-call engineer", "reviewer": "Reviewer", "owner": "Flow owner"}


@pytest.fixture
def actors(db, kafka):
    (topics.touch if servers.kafka_is_mock() else topics.create)(kafka)
    prepare.declare_flows(settings.KAFKA_BOOTSTRAP_SERVERS)
    users = {name: User.objects.create(username=name, first_name=said) for name, said in NAMES.items()}
    return {name: Actor(f"user:{user.pk}", user.get_full_name()) for name, user in users.items()}


@pytest.fixture
def told(actors):
    """told(now, seed=…): the history written; how many events."""
    return lambda now, **given: tell(actors=actors, now=now, **given)
