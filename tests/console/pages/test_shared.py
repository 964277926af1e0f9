"""What many tests share is the same for each of them, and nobody else's."""

from parking.models import Team
from tests.console.pages import shared
from tests.console.pages.shared import Shared


def test_each_gets_objects_of_its_own_and_nothing_is_left(transactional_db, django_db_blocker, monkeypatch):
    teams = Shared(lambda: Team.objects.create(name="shared"), django_db_blocker)
    teams.prepare()
    first = teams.copy()
    first.name = "changed"
    teams.prepare()
    assert (teams.copy().pk, teams.copy().name) == (first.pk, "shared")
    monkeypatch.setattr(shared, "OLD", -1)
    teams.prepare()
    assert teams.copy().pk != first.pk
    teams.drop()
    assert not Team.objects.exists()
