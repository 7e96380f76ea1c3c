"""How far a segment is on its way through LLM, flow and vocoder, and what could be done next.

Pure bookkeeping in tokens and mel frames, the same for the networks and for a simulated device. A
step is begun when it is launched and counts when it has come to its end. Knows: counts. Does not
know: tensors, text, voices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from streaming.costs import Costs
from streaming.cosyvoice.sizes import FRAME_SAMPLES
from streaming.hops import LARGEST_TOKENS, Rhythm, hop_tokens
from streaming.samples import SAMPLE_RATE
from streaming.steps import Want

FRAME_S = FRAME_SAMPLES / SAMPLE_RATE


@dataclass
class Progress:
    """One segment."""

    rhythm: Rhythm
    block_rest: int
    """Tokens that complete the block in work: at first the rest of the prompt's."""
    speed: float = 1.0
    prefill_tokens: int = 0
    """Tokens of the LLM's next step, where that is a prefill; else 0."""
    llm_under_way: int = 0
    """How many of its steps are launched and have not come to their end."""
    llm_waits: bool = False
    """Whether it waits for text that has not come."""
    llm_hears: bool = False
    """Whether what a step draws decides what the next one is, as where text is interleaved: then
    there can be no step ahead."""
    llm_done: bool = False
    made_tokens: int = 0
    taken_tokens: int = 0
    """Those that hops of the flow have taken."""
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
        """Frames that the vocoder has not taken."""
        return sum(self.waiting)

    @property
    def whole_frames(self) -> float:
        """Frames that the flow computes for the hop: whole blocks, with what the prompt began."""
        return self.rhythm.whole(self.hop + self.rhythm.block_tokens - self.block_rest)

    @property
    def available(self) -> int:
        """Tokens that no hop has taken."""
        return self.made_tokens - self.taken_tokens

    def wants(self, slack_s: float, costs: Costs) -> Sequence[Want]:
        """The steps that could be launched now."""
        frames = sum(self.waiting)
        waiting_s = self._seconds(frames)
        wants = []
        if not (self.llm_done or self.llm_waits) and (want := self._llm(waiting_s)) is not None:
            wants.append(want)
        if not self.flow_done and (want := self._flow(waiting_s, slack_s, costs)) is not None:
            wants.append(want)
        if (frames or self.flow_done) and (want := self._vocoder()) is not None:
            wants.append(want)
        return wants

    def begin_llm(self) -> None:
        """One of its steps is launched."""
        self.llm_under_way += 1

    def end_llm(self) -> None:
        """The first of them has come to its end, well or not."""
        self.llm_under_way -= 1

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
        """An Euler step has come to its end; whether the hop has, too."""
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

    def undo_vocoder(self, frames: Sequence[int]) -> None:
        """That step did not come about: so many frames of each of its hops wait as before."""
        self.waiting[:0] = frames
        self.vocoder_done = False

    def _end_hop(self) -> None:
        self.taken_tokens += self.hop
        self.waiting.append(self.hop * self.rhythm.frames_per_token)
        self.flow_done = self.last_hop
        self.block_rest = self.rhythm.block_tokens
        self.hop = 0

    def _llm(self, waiting_s: float) -> Want | None:
        if self.llm_under_way and (self.prefill_tokens or self.llm_hears):
            return None  # what the next step is, the one under way decides
        usable = self.available + self.llm_under_way - self.rhythm.lookahead_tokens
        if usable >= LARGEST_TOKENS:
            return None
        covered, block = 0, self.block_rest  # tokens in whole blocks, and the next block's
        if usable >= block:
            covered = usable - (usable - block) % self.rhythm.block_tokens
            block = self.rhythm.block_tokens
        missing = covered + block - usable
        after = self.rhythm.path(missing if self.prefill_tokens else missing - 1, block)
        spare_s = waiting_s + self._seconds(covered * self.rhythm.frames_per_token)
        prompt = self.prefill_tokens * self.rhythm.prefill_share
        return Want(self.rhythm.llm, max(1.0, prompt), after, spare_s)

    def _flow(self, spare_s: float, slack_s: float, costs: Costs) -> Want | None:
        if not self.euler_left:
            enough = self.block_rest + self.rhythm.lookahead_tokens
            ready = self.llm_done or self.available >= enough  # else no hop can be chosen
            self.hop = self._choose(slack_s + spare_s, costs) if ready else 0
        if not self.hop:
            return None
        frames = float(self.hop * self.rhythm.frames_per_token)
        left = (self.euler_left or self.rhythm.euler_steps) - 1
        whole = self.whole_frames
        after = self.rhythm.finish(whole, frames, left)
        return Want(self.rhythm.flow, whole, after, spare_s)

    def _choose(self, slack_s: float, costs: Costs) -> int:
        if self.rhythm.steady:
            whole = self.available >= self.block_rest + self.rhythm.lookahead_tokens
            return self.block_rest if whole else self.available * self.llm_done
        hop = hop_tokens(
            self.rhythm,
            costs,
            block_rest=self.block_rest,
            available=self.available,
            slack_s=slack_s,
        )
        rest = self.available - hop
        if self.llm_done and (not hop or rest <= self.rhythm.lookahead_tokens):
            return self.available  # the last: nothing is left to look ahead for
        return hop

    def _vocoder(self) -> Want | None:
        if self.vocoder_done:
            return None
        frames = self.waiting[0] if self.rhythm.steady and self.waiting else self.waiting_frames
        return Want(self.rhythm.vocoder, max(1.0, frames / self.speed))

    def _seconds(self, frames: int) -> float:
        return frames * FRAME_S / self.speed
