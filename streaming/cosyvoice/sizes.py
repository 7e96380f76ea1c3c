"""What a checkpoint's networks measure: plain numbers, and constants that no checkpoint changes.

Sources: the official ``cosyvoice2.yaml`` and ``cosyvoice3.yaml``, Qwen2's ``config.json``. Knows:
widths, depths, rates, special ids. Does not know: files (``checkpoint`` reads these from them),
tensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Generation = Literal["cosyvoice2", "cosyvoice3"]

SPEECH_TOKENS = 6561
"""The codebook: ids below this are sound, those from it on are signs."""

TOKENS_PER_S = 25
FRAMES_PER_TOKEN = 2
FRAME_SAMPLES = 480
"""24 kHz samples a mel frame: 50 frames a second."""

MEL_BANDS = 80
SPEAKER_SIZE = 192
LOOKAHEAD_TOKENS = 3
"""What the flow must have seen after the last token it yields, unless that is the end."""

BLOCK_TOKENS = 25
"""The flow's mask: a frame sees all frames up to the end of its own block."""

BLOCK_FRAMES = BLOCK_TOKENS * FRAMES_PER_TOKEN
EULER_STEPS = 10
GUIDANCE = 0.7

END_OF_PROMPT = 151646
"""``<|endofprompt|>`` in the text vocabulary; version 3 requires it in the prompt text."""


@dataclass(frozen=True)
class LlmSizes:
    """Qwen2's body, under a speech embedding and a head."""

    generation: Generation
    vocab: int = 151936
    hidden: int = 896
    feed_forward: int = 4864
    layers: int = 24
    heads: int = 14
    kv_heads: int = 2
    rope_theta: float = 1e6
    rms_eps: float = 1e-6


@dataclass(frozen=True)
class DitSizes:
    """Version 3's flow: a transformer over mel frames."""

    dim: int = 1024
    depth: int = 22
    heads: int = 16
    head_dim: int = 64
    feed_forward: int = 2
    """Times ``dim``."""
    lookahead_channels: int = 1024


@dataclass(frozen=True)
class UnetSizes:
    """Version 2's flow: a Conformer that upsamples tokens to frames, under a causal U-Net."""

    encoder_dim: int = 512
    encoder_heads: int = 8
    encoder_feed_forward: int = 2048
    encoder_blocks: int = 6
    """Before the upsampling; those after it are always 4."""
    channels: int = 256
    blocks: int = 4
    middle_blocks: int = 12
    heads: int = 8
    head_dim: int = 64


@dataclass(frozen=True)
class VocoderSizes:
    """HiFT: mel frames to samples, over a harmonic source."""

    base_channels: int = 512
    f0_channels: int = 512
    harmonics: int = 8
    sine_amplitude: float = 0.1
    noise_sigma: float = 0.003
    voiced_hz: float = 10.0
    """A fundamental below this counts as unvoiced."""
    upsample_rates: tuple[int, ...] = (8, 5, 3)
    upsample_kernels: tuple[int, ...] = (16, 11, 7)
    istft_size: int = 16
    istft_hop: int = 4
    resblock_kernels: tuple[int, ...] = (3, 7, 11)
    resblock_dilations: tuple[tuple[int, ...], ...] = ((1, 3, 5), (1, 3, 5), (1, 3, 5))
    source_kernels: tuple[int, ...] = (7, 7, 11)
    source_dilations: tuple[tuple[int, ...], ...] = ((1, 3, 5), (1, 3, 5), (1, 3, 5))
    slope: float = 0.1
    """Of the leaky rectifiers."""
    loudest: float = 0.99


@dataclass(frozen=True)
class Sizes:
    """All networks of one checkpoint."""

    generation: Generation
    llm: LlmSizes
    flow: DitSizes | UnetSizes
    vocoder: VocoderSizes
