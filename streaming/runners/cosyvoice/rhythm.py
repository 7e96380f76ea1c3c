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

STARTING = 3
"""Contexts that begin cost as much as so many more that go on."""

ROOM = 1.12
"""Steps are counted so many times: bursts need room."""

LLM_SHARED, FLOW_SHARED = 0.65, 0.5
"""A step has about this power of the contexts' number as rows (as simulated: 6 contexts have 3 and
2, 170 have 37 and 13). The vocoder's are as the flow's."""


def stages(max_batch: int, priors: Mapping[str, Cost], *, ahead: int = 1) -> tuple[Stage, ...]:
    """The three, each with one batch at a time, but that the LLM's next may be queued ``ahead``.

    Of the others a second would take the rows that came in between, too few to pay; the device
    has other steps to do meanwhile.
    """
    return tuple(
        Stage(
            name,
            max_batch=max_batch,
            in_flight=ahead if name == LLM else 1,
            ahead=ahead if name == LLM else 1,
            prior=priors[name],
            patient=True,
            urgent=name != FLOW,
        )
        for name in (LLM, FLOW, VOCODER)
    )


def second(contexts: int) -> Sequence[Following]:
    """The steps that a second of speech takes for so many contexts at once."""
    several = contexts + STARTING
    many = ROOM * several
    decoding, rendering = several**LLM_SHARED, several**FLOW_SHARED
    frames = rendering * TOKENS_PER_S * FRAMES_PER_TOKEN
    return (
        Following(LLM, decoding, TOKENS_PER_S * many / decoding),
        Following(FLOW, frames, EULER_STEPS * many / rendering),
        Following(VOCODER, frames, many / rendering),
    )
