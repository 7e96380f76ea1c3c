"""One segment's state: what each network keeps of it, and what waits for the next.

Knows: the values that belong together. Does not know: how they are made, or when.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

from streaming.cosyvoice.flow.values import FlowState, Hop
from streaming.cosyvoice.llm.decoding import Decoding
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import FRAME_SAMPLES, FRAMES_PER_TOKEN
from streaming.cosyvoice.token_stream import TokenStream
from streaming.cosyvoice.vocoder import MelStretch, VocoderState
from streaming.runners.cosyvoice.progress import Progress
from streaming.runners.cosyvoice.voice_parts import Beginning, VoicePart


@dataclass(eq=False)
class Arriving:
    """Text of a segment that comes in parts, on its way to the LLM."""

    stream: TokenStream
    ids: list[int] = field(default_factory=list)
    """Ids of text that has come and was not given to the LLM."""
    complete: bool = False
    """Whether no more will come."""

    def add(self, text: str, *, more: bool) -> None:
        """A part of it."""
        self.ids += self.stream.append(text)
        if not more:
            self.ids += self.stream.end()
            self.complete = True

    def take(self) -> tuple[int, ...]:
        """What was not given yet."""
        ids, self.ids = tuple(self.ids), []
        return ids


@dataclass(eq=False)
class Utterance:
    """A segment on its way."""

    ctx: int
    segment: int
    seed: int
    voice: VoicePart
    prompt: LlmPrompt
    text: tuple[int, ...]
    """Ids of the text that the LLM was given."""
    progress: Progress
    stretch: MelStretch
    sound: VocoderState
    arriving: Arriving | None = None
    """Text that is interleaved with speech as it comes; None where all text is there at first."""
    ended: bool = False
    """Whether the LLM was told that such text is complete."""
    decoding: Decoding | None = None
    tokens: list[int] = field(default_factory=list)
    """Speech tokens that the LLM has made and no hop has taken."""
    flow: FlowState | None = None
    voice_steps: int = 0
    """Steps of the flow under way that were launched for its voice: a hop begins after them."""
    hop: Hop | None = None
    mel: list[Tensor] = field(default_factory=list)
    """Frames ``(T, 80)`` of each hop that the vocoder has not taken."""
    usual_samples: int = 0
    """About how long it will be."""

    @property
    def beginning(self) -> Beginning:
        """What it begins with in the LLM, as others of its voice do."""
        return self.prompt, self.arriving is not None

    @property
    def expected_samples(self) -> int | None:
        """How long it will be, once that is known."""
        if not self.progress.llm_done:
            return None
        frames = self.progress.made_tokens * FRAMES_PER_TOKEN
        return round(frames * FRAME_SAMPLES / self.progress.speed)
