"""MP3 through LAME, for players that know nothing better.

Knows: the encoder's settings. Does not know: HTTP. A frame is 24 ms; a decoder hears about 65 ms of
silence more than went in, since MP3 has no place to say how much of its first and last frames to
drop.
"""

from __future__ import annotations

import lameenc

from streaming.audio.pcm import SAMPLE_BYTES
from streaming.samples import SAMPLE_RATE

BITRATE_KBPS = 64
_QUALITY = 5
"""LAME's own middle: 0 is best and slowest, 9 the opposite."""


class Mp3Stream:
    """One context's audio as a constant-rate MP3 stream; frames leave as they are made."""

    media_type = "audio/mpeg"

    def __init__(self) -> None:
        self._encoder = lameenc.Encoder()
        self._encoder.silence()
        self._encoder.set_in_sample_rate(SAMPLE_RATE)
        self._encoder.set_channels(1)
        self._encoder.set_bit_rate(BITRATE_KBPS)
        self._encoder.set_quality(_QUALITY)
        self._begun = False
        self._ended = False

    def push(self, pcm: bytes) -> bytes:
        """The frames that are ready.

        Raises:
            ValueError: for half a sample, or after the end.
        """
        if len(pcm) % SAMPLE_BYTES:
            raise ValueError(f"{len(pcm)} bytes are no whole number of 16-bit samples")
        if self._ended:
            raise ValueError("the stream has ended")
        if not pcm:
            return b""
        self._begun = True
        return bytes(self._encoder.encode(pcm))

    def finish(self) -> bytes:
        """The last frames; nothing where there was no audio."""
        self._ended = True
        return bytes(self._encoder.flush()) if self._begun else b""

    def close(self) -> None:
        """Nothing to free before the object goes."""
