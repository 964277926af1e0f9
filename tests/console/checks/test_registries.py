"""What `manage.py check` says of schema registries."""

from typing import Any

import pytest

from console.checks import registries
from tests.console.story import make_flow
from tests.registry import SchemaRegistry

pytestmark = pytest.mark.django_db


def declare(**given: str) -> None:
    cluster = make_flow("orders").cluster
    cluster.settings = {f"schema.registry.{name}": value for name, value in given.items()}
    cluster.save()


def test_a_cluster_without_one_is_not_asked() -> None:
    declare()
    assert registries.look() == []


def test_one_that_answers_is_well(settings: Any) -> None:
    with SchemaRegistry(user="Basic YTpi") as registry:
        declare(url=registry.url)
        settings.CLUSTER_SECRETS = {"main": {"schema.registry.basic.auth.user.info": "a:b"}}
        assert registries.look() == []
        settings.CLUSTER_SECRETS = {"main": {"schema.registry.basic.auth.user.info": "a:hunter2"}}
        (fault,) = registries.look()
    assert str(fault).startswith("Cluster main: (siding.W408) The schema registry refuses us (401)")
    assert "hunter2" not in str(fault)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "http://127.0.0.1:1"}, "The schema registry does not answer"),
        ({"uri": "http://127.0.0.1:1"}, "Schema.registry.uri is not known"),
        ({"url": "ftp://x"}, "The address of the schema registry cannot be used"),
    ],
)
def test_one_that_does_not_says_what_to_do(given: dict[str, str], said: str) -> None:
    declare(**given)
    (fault,) = registries.look()
    assert fault.msg.startswith(said)
    assert "schema.registry.…" in str(fault.hint)
