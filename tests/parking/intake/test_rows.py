"""How the rows of intake lie in the database."""

import pytest
from django.db import connection

from parking.models import ErrorGroup, EventPayload, Flow, HoldKey, Quarantine


@pytest.mark.parametrize("model", [Flow, HoldKey, Quarantine, ErrorGroup])
def test_what_other_rows_refer_to_stays_though_they_are_not_checked_when_they_are_written(lot, model):
    lot.store(lot.poison("e1", 10))
    with pytest.raises(Exception, match="it stays"):
        model.objects.all()._raw_delete("default")


@pytest.mark.parametrize(("size", "compressed"), [(3000, False), (30_000, True)])
def test_a_payload_of_half_a_page_is_kept_as_it_is_and_a_larger_one_compressed(lot, size, compressed):
    lot.store(lot.poison("e1", 10, value=b"a" * size))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_column_compression(value) IS NOT NULL FROM {EventPayload._meta.db_table}")
        assert cursor.fetchone() == (compressed,)
