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

FIRST_HOP_TOKENS = {"cuda": 8, "cpu": 22}
"""A GPU has the second hop before those are played, be it a small one (longer ones are heard later,
as simulated, and leave none of them fewer gaps); a CPU needs all that it can have. By the device,
not by what it was seen to do: the cut of the recording decides the sound, which a restart must not
change."""

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

USUAL_POSITIONS = 250.0
"""That a step of the LLM looks at: a recording, a text, what was said of it."""

USUAL_VOICE_S, USUAL_SAID_S = 3.0, 6.0
"""What the flow looks back at: a recording, and in a batch without a window so much of the longest.
"""

STARTING = 3
"""Contexts that begin cost as much as so many more that go on."""

WHOLE = 1.4
"""Blocks that the flow computes for each that is heard: a segment begins and ends within one."""

ROOM = {"cuda": 1.0, "cpu": 1.2}
"""Steps are counted so many times: a CPU is the server's, too, and other programs'."""

LLM_SHARED, FLOW_SHARED, VOCODER_SHARED = 0.68, 0.5, 0.42
"""A step has about this power of the contexts' number as rows (as simulated where the device is
full: 7 contexts have 3, 2 and 2 rows, 126 have 30, 12 and 8)."""


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


def usual(costs: Mapping[str, Cost], window_s: float) -> dict[str, Cost]:
    """Costs of units that look back as far as is usual; ``window_s`` 0: to the beginning."""
    said_s = min(window_s or USUAL_SAID_S, USUAL_SAID_S)
    seen_s = USUAL_VOICE_S + said_s + BLOCK_TOKENS / TOKENS_PER_S
    looks = {LLM: USUAL_POSITIONS, FLOW: seen_s * TOKENS_PER_S * FRAMES_PER_TOKEN, VOCODER: 0.0}
    return {stage: cost.usual(looks[stage]) for stage, cost in costs.items()}


def second(contexts: int, room: float = 1.0) -> Sequence[Following]:
    """The steps that a second of speech takes for so many contexts at once, ``room`` times."""
    several = contexts + STARTING
    tokens, hops, chunks = (several**shared for shared in (LLM_SHARED, FLOW_SHARED, VOCODER_SHARED))
    frames = TOKENS_PER_S * FRAMES_PER_TOKEN
    return (
        Following(LLM, tokens, room * TOKENS_PER_S * several / tokens),
        Following(FLOW, hops * frames, room * EULER_STEPS * WHOLE * several / hops),
        Following(VOCODER, chunks * frames, room * several / chunks),
    )
