"""How many speech tokens a flow hop takes: pure policy.

A hop ends where a block of the flow's mask ends, and needs some tokens more to look ahead. A small
hop is heard soon; a large one costs less a second of audio. So hops grow with the slack. They never
wait in order to grow: patience is the scheduler's. Knows: tokens, slack, costs. Does not know:
networks, contexts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from streaming.costs import Costs
from streaming.steps import Following

SAFETY = 1.25
"""Steps are reckoned to take so many times what is predicted for them."""

LARGEST_TOKENS = 100
"""4 s: beyond this a hop saves nothing more, and holds the stage up for others."""


@dataclass(frozen=True)
class Rhythm:
    """What a generation's networks want of a hop, and the stages that make one."""

    block_tokens: int
    lookahead_tokens: int
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
    prefill_share: float = 1.0
    """What a token of a prompt costs in the LLM's step, where a token that is drawn costs 1."""

    _known: dict[tuple[float, ...], tuple[Following, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )
    """Answers of ``path`` and ``finish`` by their arguments: each row of each step asks again."""

    def render(self, tokens: int) -> tuple[Following, ...]:
        """The steps that turn so many tokens into samples."""
        return self.path(0, tokens)

    def path(self, made: int, rendered: int) -> tuple[Following, ...]:
        """The steps that make ``made`` more tokens, and turn ``rendered`` tokens into samples."""
        known = self._known.get((made, rendered))
        if known is None:
            frames = float(rendered * self.frames_per_token)
            steps = self._steps(made, self.whole(rendered), frames, self.euler_steps)
            known = self._known[made, rendered] = steps
        return known

    def finish(self, whole: float, frames: float, euler_steps: int) -> tuple[Following, ...]:
        """The steps that a hop in the flow still needs until its ``frames`` are samples.

        These are ``euler_steps`` of the flow, over ``whole`` frames, and the vocoder's.
        """
        known = self._known.get((whole, frames, euler_steps))
        if known is None:
            steps = self._steps(0, whole, frames, euler_steps)
            known = self._known[whole, frames, euler_steps] = steps
        return known

    def whole(self, tokens: int) -> float:
        """Frames that the flow computes for so many tokens: whole blocks, whatever is in them."""
        return float(-(-tokens // self.block_tokens) * self.block_tokens * self.frames_per_token)

    def _steps(
        self, made: int, whole: float, frames: float, euler_steps: int
    ) -> tuple[Following, ...]:
        steps = (
            Following(self.llm, 1.0, made),
            Following(self.flow, whole, euler_steps),
            Following(self.vocoder, frames),
        )
        return tuple(each for each in steps if each.times)


def hop_tokens(
    rhythm: Rhythm, costs: Costs, *, block_rest: int, available: int, slack_s: float
) -> int:
    """How many tokens the next hop takes of those that are ``available``; 0: too few are.

    ``block_rest`` tokens complete the block in work; their audio is needed in ``slack_s``. The hop
    takes as many whole blocks as can be there in time, and no more than ``block_rest`` where none
    can. The last hop of a segment, which has nothing to look ahead to, is the caller's to choose.
    """
    usable = available - rhythm.lookahead_tokens
    tokens = block_rest
    if usable < tokens:
        return 0
    most = min(usable, LARGEST_TOKENS)
    while (more := tokens + rhythm.block_tokens) <= most and SAFETY * costs.path_s(
        rhythm.render(more)
    ) <= slack_s:
        tokens = more
    return tokens
