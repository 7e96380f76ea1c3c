"""How far a segment is on its way through LLM, flow and vocoder, and what could be done next.

Pure bookkeeping in tokens and mel frames, the same for the networks and for a simulated device. A
step is begun when it is launched and counts when it has come to its end. Knows: counts. Does not
know: tensors, text, voices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from streaming.costs import Costs
from streaming.hops import LARGEST_TOKENS, Rhythm, hop_tokens
from streaming.steps import Following, Want

FRAME_S = 0.02


@dataclass
class Progress:
    """One segment."""

    rhythm: Rhythm
    block_rest: int
    """Tokens that complete the block in work: at first the rest of the prompt's."""
    speed: float = 1.0
    prefill_tokens: int = 0
    """Of the LLM's next step, where that is a prefill; else 0."""
    llm_waits: bool = False
    """For text that has not come."""
    llm_done: bool = False
    made_tokens: int = 0
    taken_tokens: int = 0
    """By the flow."""
    hop: int = 0
    """Tokens of the hop in work or chosen; 0: none is."""
    last_hop: bool = False
    """Whether nothing comes after the hop in work."""
    euler_left: int = 0
    waiting: list[int] = field(default_factory=list)
    """Frames of each hop that the vocoder has not taken."""
    flow_done: bool = False
    vocoder_done: bool = False

    @property
    def waiting_frames(self) -> int:
        """For the vocoder."""
        return sum(self.waiting)

    @property
    def available(self) -> int:
        """Tokens that no hop has taken."""
        return self.made_tokens - self.taken_tokens

    def wants(self, slack_s: float, costs: Costs) -> Sequence[Want]:
        """The steps that could be launched now."""
        wants = (self._llm(), self._flow(slack_s, costs), self._vocoder())
        return [want for want in wants if want is not None]

    def read_tokens(self, count: int, *, done: bool) -> None:
        """The LLM has made so many, perhaps its last."""
        self.made_tokens += count
        self.llm_done = done

    def begin_euler(self) -> bool:
        """An Euler step is launched; whether the hop that ``wants`` chose begins with it."""
        if self.euler_left:
            return False
        self.last_hop = self.llm_done and self.hop == self.available
        self.euler_left = self.rhythm.euler_steps
        return True

    def end_euler(self) -> bool:
        """It has come to its end; whether the hop has, too."""
        self.euler_left -= 1
        if not self.euler_left:
            self._end_hop()
        return not self.euler_left

    def undo_begin(self) -> None:
        """The Euler step that began a hop did not come about."""
        self.euler_left = 0

    def begin_vocoder(self) -> tuple[int, bool]:
        """Waiting frames are launched: of how many hops, and whether none will follow."""
        hops = min(1, len(self.waiting)) if self.rhythm.steady else len(self.waiting)
        del self.waiting[:hops]
        self.vocoder_done = self.flow_done and not self.waiting
        return hops, self.vocoder_done

    def _end_hop(self) -> None:
        self.taken_tokens += self.hop
        self.waiting.append(self.hop * self.rhythm.frames_per_token)
        self.flow_done = self.last_hop
        self.block_rest = self.rhythm.block_tokens
        self.hop = 0

    def _llm(self) -> Want | None:
        usable = self.available - self.rhythm.lookahead_tokens
        if self.llm_done or self.llm_waits or usable >= LARGEST_TOKENS:
            return None
        missing = max(0, self.block_rest - usable)
        after = (
            self.rhythm.decode(missing if self.prefill_tokens else missing - 1),
            *self.rhythm.render(self.block_rest),
        )
        ready_tokens = self.hop if missing else max(self.hop, usable)
        spare_s = self._seconds(self.waiting_frames + ready_tokens * self.rhythm.frames_per_token)
        return Want(self.rhythm.llm, float(self.prefill_tokens or 1), after, spare_s)

    def _flow(self, slack_s: float, costs: Costs) -> Want | None:
        spare_s = self._seconds(self.waiting_frames)
        if not self.euler_left:
            self.hop = self._choose(slack_s + spare_s, costs)
        if not self.hop:
            return None
        frames = float(self.hop * self.rhythm.frames_per_token)
        left = (self.euler_left or self.rhythm.euler_steps) - 1
        after = (
            Following(self.rhythm.flow, frames, left),
            Following(self.rhythm.vocoder, frames / self.speed),
        )
        return Want(self.rhythm.flow, frames, after, spare_s)

    def _choose(self, slack_s: float, costs: Costs) -> int:
        if self.flow_done:
            return 0
        if self.rhythm.steady:
            whole = self.available >= self.block_rest + self.rhythm.lookahead_tokens
            return self.block_rest if whole else self.available * self.llm_done
        hop = hop_tokens(
            self.rhythm,
            costs,
            block_rest=self.block_rest,
            available=self.available,
            slack_s=slack_s,
            more_comes=not self.llm_done and not self.llm_waits,
        )
        rest = self.available - hop
        if self.llm_done and (not hop or rest <= self.rhythm.lookahead_tokens):
            return self.available  # the last: nothing is left to look ahead for
        return hop

    def _vocoder(self) -> Want | None:
        if self.vocoder_done or not (self.waiting_frames or self.flow_done):
            return None
        frames = self.waiting[0] if self.rhythm.steady and self.waiting else self.waiting_frames
        return Want(self.rhythm.vocoder, max(1.0, frames / self.speed))

    def _seconds(self, frames: int) -> float:
        return frames * FRAME_S / self.speed
