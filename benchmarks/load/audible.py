"""Where in a context's first packets sound begins, found after the run so that it costs it nothing.

Opus packets are decoded here, by libopus, without the decoder's lag (``pre_skip``).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from opuslib_next import Decoder

AUDIBLE_AMPLITUDE = 164
"""-46 dBFS: quieter than that, nobody hears speech begin."""

_RATE = 24_000
_FRAME_SAMPLES = _RATE * 80 // 1000


def first_audible_ms(packets: Iterable[bytes], codec: str, pre_skip: int) -> float | None:
    """From the beginning of the audio to the first audible sample; ``None`` if none is in these.

    Raises:
        opuslib_next.OpusError: if one of them is no Opus packet.
    """
    pcm = b"".join(packets) if codec == "pcm_s16le" else _decoded(packets)
    skip = pre_skip // 2 if codec == "opus" else 0
    loud = np.abs(np.frombuffer(pcm, "<i2")[skip:].astype(np.int32)) > AUDIBLE_AMPLITUDE
    return int(loud.argmax()) * 1000 / _RATE if loud.any() else None


def _decoded(packets: Iterable[bytes]) -> bytes:
    decoder = Decoder(_RATE, 1)
    return b"".join(bytes(decoder.decode(packet, _FRAME_SAMPLES)) for packet in packets)
