"""People, flows and keys that the tests of pages start from."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoDbBlocker

from parking.models import Flow, Quarantine
from replay.models import Replay
from tests import servers
from tests.console import story
from tests.console.pages.shared import Shared


@dataclass
class Scene:
    """Two flows of two teams; the key of the pictures in the first; who may do what with the first only."""

    disputes: Flow
    foreign: Flow
    lot: story.Lot
    foreign_lot: story.Lot
    key: Quarantine
    foreign_key: Quarantine
    viewer: User
    oncall: User
    reviewer: User
    owner: User
    stranger: User

    def client(self, user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    def decide_all(self) -> None:
        story.decided(self.key, self.oncall)

    def request(self, user: User | None = None) -> Replay:
        return story.requested(self.key, user or self.oncall)


SHARED = pytest.StashKey[Shared[Scene]]()


def make_scene(kafka: str, replay_topic: str) -> Scene:
    disputes = story.make_flow("disputes", schema=story.SCHEMA, bootstrap=kafka, replay_topic=replay_topic)
    foreign = story.make_flow("crm-sync", "Sales systems", bootstrap=kafka, replay_topic=replay_topic)
    lot, other = story.Lot(disputes), story.Lot(foreign)
    return Scene(
        disputes=disputes,
        foreign=foreign,
        lot=lot,
        foreign_lot=other,
        key=story.disputed_key(lot),
        foreign_key=story.disputed_key(other, b"crm-secret-7"),
        viewer=story.person("viewer", "auditor", viewer=disputes),
        oncall=story.person("oncall", "on-call engineer", operator=disputes),
        reviewer=story.person("reviewer", "second reviewer", reviewer=disputes),
        owner=story.person("owner", "flow owner", owner=disputes),
        stranger=story.person("stranger", "other team", owner=foreign),
    )


@pytest.fixture(scope="session")
def replay_topic(kafka: str) -> str:
    """A topic that may take replays; nothing is sent to it here."""
    name = f"replay-{uuid.uuid4().hex[:12]}"
    if not servers.kafka_is_mock():
        admin = AdminClient({"bootstrap.servers": kafka})
        config = {"cleanup.policy": "delete", "max.message.bytes": "2000000"}
        admin.create_topics([NewTopic(name, 3, 1, config=config)])[name].result(60)
    return name


@pytest.fixture(scope="session")
def _shared_scene(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    kafka: str,
    replay_topic: str,
    pytestconfig: pytest.Config,
) -> Iterator[Shared[Scene]]:
    shared = Shared(lambda: make_scene(kafka, replay_topic), django_db_blocker)
    pytestconfig.stash[SHARED] = shared
    yield shared
    shared.drop()


@pytest.fixture
def _prepared_scene(_shared_scene: Shared[Scene]) -> Shared[Scene]:
    _shared_scene.prepare()
    return _shared_scene


@pytest.fixture
def scene(_prepared_scene: Shared[Scene], db: None) -> Scene:
    """Not for a test that commits: the rows are in a transaction that is rolled back."""
    return _prepared_scene.copy()


@pytest.hookimpl(trylast=True)  # when the transaction of the test has been rolled back
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Nobody but the tests of the scene sees its rows."""
    if SHARED in item.config.stash and "scene" not in getattr(nextitem, "fixturenames", ()):
        item.config.stash[SHARED].drop()
