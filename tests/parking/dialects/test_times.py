"""Times as producers of all languages write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parking.dialects import times

AT = 1_767_225_660_456


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("2026-01-01T00:01:00.456Z", AT),
        ("2026-01-01T00:01:00.4560000Z", AT),
        ("2026-01-01T00:01:00.456789123+00:00", AT),
        ("2026-01-01T02:01:00.456+02:00", AT),
        ("2025-12-31T19:31:00.456-0430", AT),
        ("2026-01-01 00:01:00.456", AT),
        ("2026-01-01 00:01:00:456000 Z", AT),
        ("2026-01-01T00:01Z", AT - 456),
        ("1969-12-31T23:59:59Z", None),
        ("2026-13-01T00:00:00Z", None),
        ("2026-01-01T00:01:00+99:00", None),
        ("0000-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-14:00", 253_402_351_199_000),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_iso(text, ms):
    assert times.iso(text) == ms


@pytest.mark.parametrize(
    ("number", "ms"),
    [
        (1_767_225_660, 1_767_225_660_000),
        (AT, AT),
        (AT * 1000 + 7, AT),
        (AT * 1_000_000 + 7, AT),
        (0, None),
        (-1, None),
        (10**30, None),
        (None, None),
    ],
)
def test_a_number_has_the_unit_that_its_size_says(number, ms):
    assert times.epoch(number) == ms


@given(st.one_of(st.text(), st.from_regex(times._ISO), st.integers().map(str)))
def test_no_text_raises(text):
    found = times.any_of(text)
    assert found is None or found >= 0
