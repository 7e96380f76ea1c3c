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
"""How many tokens the first hop has where the settings do not say. Even a small GPU has the second
hop before 8 are played; with more, the simulator says, all hear the first sound later and nobody
has fewer gaps but a crowd that fills a small card in one instant. A CPU needs the longest there is.
The kind of device decides, not how quick it was seen to be: the recording is cut to fit the hop,
the cut decides the sound, and a restart must not change the sound."""

HELD_BACK_TOKENS = 2.0
"""Version 3's vocoder looks 4 frames ahead (and 8 samples); version 2's, 8."""

RHYTHM = Rhythm(
    block_tokens=BLOCK_TOKENS,
    lookahead_tokens=LOOKAHEAD_TOKENS,
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
"""How many a step of the LLM attends to: of a recording, a text, and what was said of it."""

USUAL_VOICE_S, USUAL_SAID_S = 3.0, 6.0
"""What a step of the flow looks back at: a recording, and where there is no window, so much speech.
"""

STARTING = 5
"""What contexts that are about to begin cost is reckoned as that of so many more that speak (as
simulated: at twice what a small card carries, 3 leave gaps in conversations, and 5 none)."""

WHOLE = 1.4
"""The flow computes so many blocks for each that is heard: a segment begins and ends within one."""

ROOM = {"cuda": 1.0, "cpu": 1.2}
"""What steps take is counted so many times: a CPU works for the server and other programs too."""

LLM_SHARED, FLOW_SHARED, VOCODER_SHARED = 0.68, 0.5, 0.42
"""How many rows a step has: about the number of contexts to this power. So it is in simulations of
a device that is full, where the steps of 7 contexts have 3, 2 and 2 rows, of 126, 30, 12 and 8."""


def stages(max_batch: int, priors: Mapping[str, Cost], *, ahead: int = 1) -> tuple[Stage, ...]:
    """The three, each with one batch at a time, but the LLM with ``ahead`` of them.

    A second batch of the others would hold the few rows that have come since the first was
    launched, which is a waste; the device has steps of other stages to do meanwhile.
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
    """Costs by units alone, each looking back as far as is usual (``window_s`` 0: all the way)."""
    said_s = min(window_s or USUAL_SAID_S, USUAL_SAID_S)
    seen_s = USUAL_VOICE_S + said_s + BLOCK_TOKENS / TOKENS_PER_S
    looks = {LLM: USUAL_POSITIONS, FLOW: seen_s * TOKENS_PER_S * FRAMES_PER_TOKEN, VOCODER: 0.0}
    return {stage: cost.usual(looks[stage]) for stage, cost in costs.items()}


def second(contexts: int, room: float = 1.0) -> Sequence[Following]:
    """The steps that a second of speech takes for so many contexts at once, times ``room``."""
    several = contexts + STARTING
    tokens, hops, chunks = (several**shared for shared in (LLM_SHARED, FLOW_SHARED, VOCODER_SHARED))
    frames = TOKENS_PER_S * FRAMES_PER_TOKEN
    return (
        Following(LLM, tokens, room * TOKENS_PER_S * several / tokens),
        Following(FLOW, hops * frames, room * EULER_STEPS * WHOLE * several / hops),
        Following(VOCODER, chunks * frames, room * several / chunks),
    )
