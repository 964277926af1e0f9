"""`manage.py life` fills only what is meant to be filled."""

import pytest
from django.core.management import CommandError, call_command


@pytest.mark.django_db
def test_a_database_that_is_no_demo_has_to_be_named():
    with pytest.raises(CommandError, match="say so: --database"):
        call_command("life")
    with pytest.raises(CommandError, match="say so: --database"):
        call_command("life", database="another")


@pytest.mark.django_db
def test_without_the_flows_it_says_what_to_do(settings):
    settings.ENVIRONMENT = "demo"
    with pytest.raises(CommandError, match="declare them first"):
        call_command("life")
