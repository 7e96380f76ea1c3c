"""Opus packets into an Ogg file: RFC 3533 (Ogg) and RFC 7845 (Ogg Opus).

Knows: pages, check sums, granule positions. Does not know: files; it makes bytes.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

from cosystream.version import __version__

_CONTINUES, _BEGINS, _ENDS = 1, 2, 4
_MAX_SEGMENTS = 255
_PAGE_SAMPLES = 48_000
"""A page is closed after a second: what is written to a pipe can be heard soon."""


def _crc_table() -> tuple[int, ...]:
    """Ogg's own check sum: polynomial 0x04C11DB7, not reflected, no inversion (RFC 3533 6)."""
    table = []
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1) ^ (0x04C11DB7 if value & 0x8000_0000 else 0)
        table.append(value & 0xFFFF_FFFF)
    return tuple(table)


_CRC = _crc_table()


def _crc(page: bytes) -> int:
    value = 0
    for byte in page:
        value = ((value << 8) & 0xFFFF_FFFF) ^ _CRC[(value >> 24) ^ byte]
    return value


class OggOpus:
    """A mono stream. Give packets to ``packet``, then call ``finish``; write what they return."""

    def __init__(self, *, rate: int, pre_skip: int, serial: int) -> None:
        self._serial = serial
        self._pre_skip = pre_skip
        self._numbers = itertools.count()
        self._granule = 0
        self._page_start = 0
        self._page: list[bytes] = []
        self._rate = rate

    def head(self) -> bytes:
        """The two header pages; the file begins with them."""
        head = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, self._pre_skip, self._rate, 0, 0)
        vendor = f"cosystream {__version__}".encode()
        tags = b"OpusTags" + struct.pack("<I", len(vendor)) + vendor + struct.pack("<I", 0)
        return self._seal([head], 0, _BEGINS) + self._seal([tags], 0, 0)

    def packet(self, payload: bytes, samples_48k: int) -> bytes:
        """Add a packet of that length; returns the page that is full now, or nothing."""
        full = b""
        lacing = sum(_lacing_length(len(packet)) for packet in (*self._page, payload))
        long_enough = self._granule - self._page_start >= _PAGE_SAMPLES
        if self._page and (long_enough or lacing > _MAX_SEGMENTS):
            full = self._seal(self._page, self._granule, 0)
            self._page, self._page_start = [], self._granule
        self._page.append(payload)
        self._granule += samples_48k
        return full

    def finish(self, samples_48k: int | None = None) -> bytes:
        """The last page. ``samples_48k`` is the exact length, after pre-skip and before padding."""
        granule = self._granule
        if samples_48k is not None:
            granule = min(granule, self._pre_skip + samples_48k)
        return self._seal(self._page, granule, _ENDS)

    def _seal(self, packets: list[bytes], granule: int, flags: int) -> bytes:
        lacing = bytes(itertools.chain.from_iterable(_lacing(len(packet)) for packet in packets))
        page = struct.pack(
            "<4sBBqIIIB",
            b"OggS",
            0,
            flags,
            granule,
            self._serial,
            next(self._numbers),
            0,
            len(lacing),
        )
        page += lacing + b"".join(packets)
        return page[:22] + struct.pack("<I", _crc(page)) + page[26:]


def _lacing_length(size: int) -> int:
    return size // 255 + 1


def _lacing(size: int) -> Iterator[int]:
    yield from itertools.repeat(255, size // 255)
    yield size % 255
