"""The list of keys: sorted by trouble, filtered by the address, limited to the viewer."""

import pytest


@pytest.mark.parametrize("text", ["acc-204", "dec", "acc-20417-3", "pass validation"])
def test_keys_are_found_by_part_of_the_key_or_error_and_by_event_id(scene, text):
    found = scene.client(scene.oncall).get("/keys", {"text": text})
    assert b"acc-20417" in found.content
