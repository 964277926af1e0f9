"""The list of keys: sorted by trouble, filtered by the address, limited to the viewer."""

import html
import re

import pytest

from tests.console import story


@pytest.mark.parametrize("text", ["acc-204", "dec", "acc-20417-3", "pass validation"])
def test_keys_are_found_by_part_of_the_key_or_error_and_by_event_id(scene, text):
    found = scene.client(scene.oncall).get("/keys", {"text": text})
    assert b"acc-20417" in found.content


def test_an_error_of_a_framework_is_listed_by_its_cause_with_the_whole_at_hand(scene):
    whole = ("com.example.billing.TaxRateMissing", "Listener failed; no tax rate for XI")
    story.simple_key(scene.lot, b"inv-1", ago=60, error=whole)
    body = html.unescape(scene.client(scene.oncall).get("/keys").content.decode())
    row = next(row for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL) if "inv-1" in row)
    assert re.sub(r"<[^>]*>", "", row).count("TaxRateMissing") == 1
    assert ">no tax rate for XI<" in row
    assert all(f'title="{one}"' in row for one in whole)
