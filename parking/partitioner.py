"""The partition that Kafka's Java producer gives a key.

Follows org.apache.kafka.common.utils.Utils.murmur2 and BuiltInPartitioner.partitionForKey (Apache Kafka 4). The default
of librdkafka hashes by CRC-32 and would send a key elsewhere.
"""

import struct

_M = 0x5BD1E995
_SEED = 0x9747B28C
_32 = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """The 32-bit hash of `data` as an unsigned number (Java shows the same bits as a signed one)."""
    length = len(data)
    h = (_SEED ^ length) & _32
    whole = length & ~3
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        k = word * _M & _32
        h = (h * _M & _32) ^ ((k ^ k >> 24) * _M & _32)
    if length > whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * _M & _32
    h = (h ^ h >> 13) * _M & _32
    return h ^ h >> 15


def partition(key: bytes, partitions: int) -> int:
    """The partition, 0 to `partitions` − 1, of a key among `partitions` (at least 1)."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
