"""The partition of a key, as Kafka's Java producer chooses it."""

import pytest

from parking.partitioner import murmur2, partition


@pytest.mark.parametrize(
    ("key", "java"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_values_of_kafkas_own_tests(key: bytes, java: int) -> None:
    """org.apache.kafka.common.utils.UtilsTest.testMurmur2."""
    assert murmur2(key) == java % 2**32


def test_partitions_are_within_bounds_and_steady() -> None:
    for n in range(1, 13):
        places = {partition(str(key).encode(), n) for key in range(500)}
        assert places == set(range(n))
    assert partition(b"", 7) == partition(b"", 7)
