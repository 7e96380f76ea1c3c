"""Ogg pages (RFC 3533).

Knows: lacing, granule positions as numbers, checksums. Does not know: what is in the packets.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

CONTINUED, FIRST, LAST = 1, 2, 4
"""Flags of a page; the first is for packets that go on from the page before, never made here."""

MAX_SEGMENTS = 255
"""A packet takes one for each 255 bytes, and one more."""

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_CRC_OFFSET = 22


class OggWriter:
    """One logical stream; every packet lies within one page."""

    def __init__(self, serial: int) -> None:
        self._serial = serial
        self._sequence = 0

    def page(self, packets: Sequence[bytes], granule: int, flags: int = 0) -> bytes:
        """One page of whole packets; ``granule`` is the position at its end.

        Raises:
            ValueError: if the packets are too long for one page.
        """
        lacing = b"".join(map(_lacing, packets))
        if len(lacing) > MAX_SEGMENTS:
            raise ValueError(f"{len(lacing)} segments, but a page has at most {MAX_SEGMENTS}")
        header = struct.pack(
            "<4sBBqIIIB",
            b"OggS",
            0,
            flags,
            granule,
            self._serial,
            self._sequence,
            0,
            len(lacing),
        )
        self._sequence += 1
        page = bytearray(header + lacing + b"".join(packets))
        struct.pack_into("<I", page, _CRC_OFFSET, checksum(bytes(page)))
        return bytes(page)


def checksum(page: bytes) -> int:
    """CRC-32 with the polynomial 0x04c11db7, begun at 0, bits not reflected (RFC 3533, 6).

    zlib's has the same polynomial with its bits reflected, and inverts before and after; reversing
    the bits of the input and of the result, and inverting once more, leaves the one wanted.
    """
    reflected = zlib.crc32(page.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int.from_bytes(reflected.to_bytes(4, "little").translate(_REVERSED), "big")


def _lacing(packet: bytes) -> bytes:
    return b"\xff" * (len(packet) // 255) + bytes([len(packet) % 255])
