"""How many speech tokens a flow hop takes: pure policy.

A hop ends where a block of the flow's mask ends, and needs some tokens more to look ahead. A small
hop is heard soon; a large one costs less a second of audio. So the first is as small as the second
can follow without a gap, and later ones grow with the slack. Knows: tokens, slack, costs. Does not
know: networks, contexts.
"""

from __future__ import annotations

from dataclasses import dataclass

from streaming.costs import Costs
from streaming.steps import Following

SAFETY = 1.25
"""Predictions are taken so much longer than they are."""

LEAST_FIRST_TOKENS = 5
LARGEST_TOKENS = 100
"""4 s: beyond this a hop saves nothing more, and holds the stage up for others."""


@dataclass(frozen=True)
class Rhythm:
    """What a generation's networks want of a hop, and the stages that make one."""

    block_tokens: int
    lookahead_tokens: int
    token_ms: float
    held_back_tokens: float
    """Audio of so many tokens waits in the vocoder for what comes after it."""
    frames_per_token: int
    euler_steps: int
    llm: str = "llm"
    flow: str = "flow"
    vocoder: str = "vocoder"
    steady: bool = False
    """Where audio depends on how it is cut: then every hop is a block, and is rendered by itself,
    so that what is heard does not depend on who else speaks."""

    def render(self, tokens: int) -> tuple[Following, ...]:
        """The steps from tokens to samples."""
        frames = float(tokens * self.frames_per_token)
        flow = Following(self.flow, frames, self.euler_steps)
        return (flow, Following(self.vocoder, frames))

    def decode(self, tokens: int) -> Following:
        """The steps that make so many tokens more."""
        return Following(self.llm, 1.0, max(0, tokens))


def first_hop_tokens(rhythm: Rhythm, costs: Costs, rows: int = 1) -> int:
    """The fewest tokens whose audio lasts until a second hop of a whole block is there.

    ``rows``: contexts that share the stages now; what they ask for comes in between.
    """
    second = (rhythm.decode(rhythm.block_tokens), *rhythm.render(rhythm.block_tokens * rows))
    second_ms = 1000.0 * SAFETY * costs.path_s(second)
    tokens = rhythm.held_back_tokens + second_ms / rhythm.token_ms
    return min(max(LEAST_FIRST_TOKENS, round(tokens + 0.5)), rhythm.block_tokens - 1)


def hop_tokens(
    rhythm: Rhythm,
    costs: Costs,
    *,
    block_rest: int,
    available: int,
    slack_s: float,
    more_comes: bool,
) -> int:
    """How many tokens the next hop takes now; 0: it is better to wait for more.

    ``block_rest`` completes the block in work, ``available`` tokens are there, ``slack_s`` is when
    their audio is needed, ``more_comes``: whether the LLM will make more without being asked.
    Where nothing more comes, a hop that cannot look ahead is for the caller: it is the last.
    """
    usable = available - rhythm.lookahead_tokens
    if usable < block_rest:
        return 0
    fits = _largest(rhythm, costs, block_rest, slack_s)
    now = block_rest + (usable - block_rest) // rhythm.block_tokens * rhythm.block_tokens
    if now >= fits or not more_comes:
        return max(block_rest, min(now, fits))
    missing = fits - usable
    wait_s = SAFETY * costs.path_s((rhythm.decode(missing), *rhythm.render(fits)))
    return 0 if wait_s < slack_s else now


def _largest(rhythm: Rhythm, costs: Costs, block_rest: int, slack_s: float) -> int:
    """The largest hop that is there in time; the smallest there is where none would be."""
    tokens = block_rest
    while (more := tokens + rhythm.block_tokens) <= LARGEST_TOKENS and SAFETY * costs.path_s(
        rhythm.render(more)
    ) <= slack_s:
        tokens = more
    return tokens
