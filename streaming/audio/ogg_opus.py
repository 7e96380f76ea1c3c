"""Ogg Opus (RFC 7845), made while the sound is coming.

Knows: the two header packets, pre-skip, end trimming. Does not know: HTTP.

A page leaves with every push, so a player that has read the first 80 ms can start; the last page's
position says where the sound ends, to the sample.
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Sequence

from streaming.audio.format import AudioFormat
from streaming.audio.ogg import FIRST, LAST, OggWriter
from streaming.audio.packetizer import Packet, Packetizer
from streaming.samples import PTS_RATE, SAMPLE_RATE

VENDOR = b"cosystream"

_FRAME_MS = 20
_PAGE_PACKETS = 40
"""0.8 s a page at most (RFC 7845, 4 wants no more than 1 s); the longest possible packets fit."""
_MONO_OR_STEREO = 0


class OggOpusStream:
    """One context's audio as an Ogg Opus file of which the beginning plays before the end is made.

    Args:
        bitrate: bit/s.
        complexity: the encoder's, 0 to 10.
        serial: tells streams that somebody appends to each other apart; by default a random one.
    """

    media_type = "audio/ogg; codecs=opus"

    def __init__(
        self, *, bitrate: int = 32_000, complexity: int = 5, serial: int | None = None
    ) -> None:
        audio = AudioFormat("opus", SAMPLE_RATE, _FRAME_MS, bitrate, complexity=complexity)
        self._packetizer = Packetizer(audio)
        self._writer = OggWriter(secrets.randbits(32) if serial is None else serial)
        self._pre_skip = audio.pre_skip_48k
        self._begun = False

    def push(self, pcm: bytes) -> bytes:
        """The pages that these samples complete, after the headers the first time.

        Raises:
            ValueError: for half a sample, or after the end.
        """
        packets = self._packetizer.push(pcm)
        return self._headers() + b"".join(map(self._page, _batches(packets)))

    def finish(self) -> bytes:
        """The pages that end the stream.

        Raises:
            ValueError: after the end.
        """
        *whole, last = _batches(self._packetizer.finish()) or [[]]
        end = self._pre_skip + self._packetizer.samples_in * PTS_RATE // SAMPLE_RATE
        self._packetizer.close()
        pages = b"".join(map(self._page, whole))
        return self._headers() + pages + self._writer.page(_payloads(last), end, LAST)

    def close(self) -> None:
        """Free the encoder, at any moment and any number of times."""
        self._packetizer.close()

    def _page(self, packets: Sequence[Packet]) -> bytes:
        end = packets[-1].pts_48k + packets[-1].duration_48k
        return self._writer.page(_payloads(packets), end)

    def _headers(self) -> bytes:
        """The identification and the comment, each on a page of its own (RFC 7845, 3)."""
        if self._begun:
            return b""
        self._begun = True
        head = struct.pack(
            "<8sBBHIhB", b"OpusHead", 1, 1, self._pre_skip, SAMPLE_RATE, 0, _MONO_OR_STEREO
        )
        tags = b"OpusTags" + struct.pack("<I", len(VENDOR)) + VENDOR + struct.pack("<I", 0)
        return self._writer.page([head], 0, FIRST) + self._writer.page([tags], 0)


def _batches(packets: Sequence[Packet]) -> list[Sequence[Packet]]:
    return [packets[i : i + _PAGE_PACKETS] for i in range(0, len(packets), _PAGE_PACKETS)]


def _payloads(packets: Sequence[Packet]) -> list[bytes]:
    return [packet.payload for packet in packets]
