"""The shape of CosyVoice's work: its stages, and the steps that a second of speech takes.

Knows: tokens, frames, steps. Does not know: networks, costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from streaming.cosyvoice.sizes import (
    BLOCK_TOKENS,
    EULER_STEPS,
    FRAMES_PER_TOKEN,
    LOOKAHEAD_TOKENS,
    TOKENS_PER_S,
    Generation,
)
from streaming.hops import Rhythm
from streaming.steps import Cost, Following, Stage

LLM, FLOW, VOCODER = "llm", "flow", "vocoder"

HELD_BACK_TOKENS = 2.0
"""Version 3's vocoder looks 4 frames ahead (and 8 samples); version 2's, 8."""

RHYTHM = Rhythm(
    block_tokens=BLOCK_TOKENS,
    lookahead_tokens=LOOKAHEAD_TOKENS,
    token_ms=1000.0 / TOKENS_PER_S,
    held_back_tokens=HELD_BACK_TOKENS,
    frames_per_token=FRAMES_PER_TOKEN,
    euler_steps=EULER_STEPS,
    llm=LLM,
    flow=FLOW,
    vocoder=VOCODER,
)

RHYTHMS: dict[Generation, Rhythm] = {
    "cosyvoice2": replace(RHYTHM, held_back_tokens=4.0, steady=True),
    "cosyvoice3": RHYTHM,
}
"""Version 2's vocoder is not causal: where its chunks meet, its sound depends on where that is."""

USUAL_HOP_S = 2.0
"""Hops grow to about this where there is slack."""

SHARE_OF_BATCH = 0.5
"""Contexts that run ahead and wait leave a step this share of them, about."""


def stages(max_batch: int, priors: Mapping[str, Cost], *, in_flight: int = 2) -> tuple[Stage, ...]:
    """The three, each with one batch running and, on a device, one queued behind it."""
    return tuple(
        Stage(
            name,
            max_batch=max_batch,
            in_flight=in_flight,
            prior=priors[name],
        )
        for name in (LLM, FLOW, VOCODER)
    )


def second(contexts: int) -> Sequence[Following]:
    """The steps that a second of speech takes for so many contexts at once."""
    rows = max(1.0, contexts * SHARE_OF_BATCH)
    batches = contexts / rows
    frames = rows * USUAL_HOP_S * TOKENS_PER_S * FRAMES_PER_TOKEN
    return (
        Following(LLM, rows, TOKENS_PER_S * batches),
        Following(FLOW, frames, EULER_STEPS * batches / USUAL_HOP_S),
        Following(VOCODER, frames, batches / USUAL_HOP_S),
    )
