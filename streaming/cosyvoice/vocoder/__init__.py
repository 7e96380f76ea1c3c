"""HiFT, the vocoder of both generations: mel frames in, 24 kHz samples out, streaming."""

from streaming.cosyvoice.sizes import Generation, VocoderSizes
from streaming.cosyvoice.vocoder.base import Vocoder
from streaming.cosyvoice.vocoder.state import VocoderState
from streaming.cosyvoice.vocoder.stretch import MelStretch
from streaming.cosyvoice.vocoder.v2 import VocoderV2
from streaming.cosyvoice.vocoder.v3 import VocoderV3

__all__ = ["MelStretch", "Vocoder", "VocoderState", "VocoderV2", "VocoderV3", "of"]


def of(generation: Generation, sizes: VocoderSizes) -> VocoderV2 | VocoderV3:
    """The vocoder of a generation, its weights still to be loaded (``strict=True``) and fused."""
    return VocoderV3(sizes) if generation == "cosyvoice3" else VocoderV2(sizes)
