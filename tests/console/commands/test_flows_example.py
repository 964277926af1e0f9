"""The example of docs/flows.md is one that `manage.py flows` takes, and its table names every field."""

import re
from typing import Any

import pytest
from django.core.management import call_command

from console.demo.processes import ROOT
from parking.models import Cluster, Flow

PAGE = (ROOT / "docs/flows.md").read_text(encoding="utf-8")


@pytest.mark.django_db
def test_the_example_is_taken(tmp_path):
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "flows.toml").write_text(example, encoding="utf-8")
    call_command("flows", str(tmp_path / "flows.toml"))
    assert Cluster.objects.get().client_settings["sasl.username"] == "siding"
    gated, plain = Flow.objects.order_by("name")
    assert (gated.name, gated.target, gated.key_rule, gated.payload_days) == (
        "disputes",
        "gated",
        "json:account.id",
        14,
    )
    schema: Any = gated.schema
    assert schema["properties"]["amount_cents"] == {"type": "integer", "minimum": 1}
    assert (plain.name, plain.target, plain.replay_topic, plain.settle_after_seconds) == ("invoices", "plain", "", 600)


def test_the_table_names_every_field_with_its_default():
    table = PAGE.partition("<!-- fields -->")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]
    named = {name: default for names, default, _ in rows for name in re.findall(r"`(\w+)`", names)}
    fields = {field.name: field for field in Flow._meta.concrete_fields if field.name != "id"}
    assert set(named) == set(fields)
    for name, field in fields.items():
        if isinstance(field.default, (int, str)) and name not in ("payload_days", "metadata_days"):
            assert named[name].strip("`") == str(field.default).lower(), name
