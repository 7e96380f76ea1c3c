"""PCM of any length becomes chunks of 80 ms.

Knows: lengths. Does not know: positions, contexts, what is in the samples.
"""

from __future__ import annotations

from streaming.audio.pcm import SAMPLE_BYTES
from streaming.samples import CHUNK_SAMPLES

CHUNK_BYTES = CHUNK_SAMPLES * SAMPLE_BYTES


class Chunker:
    """Cuts one context's PCM; only what ``finish`` gives is shorter than a chunk.

    A first chunk that is not full does not leave early either: a listener's packet is 80 ms by
    default, so it would only wait in another place.
    """

    def __init__(self) -> None:
        self._carried = bytearray()

    def push(self, pcm: bytes) -> list[bytes]:
        """The chunks that are full now.

        Raises:
            ValueError: for half a sample.
        """
        if len(pcm) % SAMPLE_BYTES:
            raise ValueError(f"{len(pcm)} bytes are no whole number of 16-bit samples")
        self._carried += pcm
        whole = len(self._carried) // CHUNK_BYTES * CHUNK_BYTES
        chunks = [bytes(self._carried[i : i + CHUNK_BYTES]) for i in range(0, whole, CHUNK_BYTES)]
        del self._carried[:whole]
        return chunks

    def finish(self) -> bytes:
        """The remainder, possibly empty."""
        rest = bytes(self._carried)
        self._carried.clear()
        return rest
