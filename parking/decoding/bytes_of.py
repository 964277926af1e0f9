"""Bytes taken one after the other, never more than there are."""

import struct

from parking.decoding.errors import DoesNotFit


class Bytes:
    """A position in bytes; every reader moves it on. Raises DoesNotFit where the bytes end too early."""

    __slots__ = ("at", "end", "whole")

    def __init__(self, whole: bytes, at: int = 0) -> None:
        self.whole = whole
        self.at = at
        self.end = len(whole)

    @property
    def left(self) -> int:
        return self.end - self.at

    def take(self, count: int) -> bytes:
        if count < 0 or count > self.end - self.at:
            raise DoesNotFit(f"byte {self.at + 1} wants {count} more, {self.left} are left")
        self.at += count
        return self.whole[self.at - count : self.at]

    def byte(self) -> int:
        if self.at >= self.end:
            raise DoesNotFit("the bytes end too early")
        self.at += 1
        return self.whole[self.at - 1]

    def number(self, form: str) -> int | float:
        """A number in the notation of `struct`."""
        value: int | float = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return value

    def unsigned(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def text(self, count: int) -> str:
        start = self.at
        try:
            return self.take(count).decode("utf-8")
        except UnicodeDecodeError as error:
            raise DoesNotFit(f"the text at byte {start + 1} is not UTF-8 (byte {start + error.start + 1})") from None

    def varint(self) -> int:
        """An unsigned number of at most 64 bits, seven bits a byte, the lowest first."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> 64:
                    break
                return value
        raise DoesNotFit(f"the number before byte {self.at + 1} has more than 64 bits")

    def zigzag(self) -> int:
        """A signed number, as Avro and the frame of a registry write it."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def done(self) -> None:
        """Raises DoesNotFit if something is left."""
        if self.left:
            raise DoesNotFit(f"it ends at byte {self.at}, {self.left} more follow")
