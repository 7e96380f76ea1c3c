"""What the flow keeps of a voice and of a context, as values, and a hop that is being solved.

A hop makes a new state and leaves the old one as it was. Pages belong to the values that name
them: drop a hop or a state, at any time, and what it alone held is free. Knows: who holds what.
Does not know: how a hop is solved.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

from streaming.cosyvoice.flow.base import HostRow
from streaming.cosyvoice.flow.host import HostPages
from streaming.cosyvoice.flow.pool import Page
from streaming.cosyvoice.sizes import BLOCK_TOKENS, EULER_STEPS


@dataclass(frozen=True)
class Kept:
    """A block's page, and which block of its context it is."""

    block: int
    page: Page


@dataclass(frozen=True)
class FlowVoice:
    """A prompt: its whole blocks in pages, shared by all contexts that speak with it."""

    speaker: Tensor
    """(80,)."""
    kept: tuple[Kept, ...]
    tail: tuple[int, ...]
    """The last two tokens of the whole blocks."""
    rest: tuple[int, ...]
    """The tokens after them: the first hop computes these too."""
    rest_mel: Tensor
    """(2 * rest, 80)."""
    page_bytes: int
    on_host: HostPages | None = None
    """Its pages while they are away from the device; ``kept`` is empty then."""

    @property
    def bytes(self) -> int:
        """Device memory this holds."""
        return len(self.kept) * self.page_bytes + self.rest_mel.nbytes + self.speaker.nbytes

    @property
    def host_bytes(self) -> int:
        """Host memory that its pages hold."""
        return 0 if self.on_host is None else self.on_host.bytes

    @property
    def tokens(self) -> int:
        """Tokens of the prompt as it was cut."""
        blocks = self.kept if self.on_host is None else self.on_host.blocks
        return len(blocks) * BLOCK_TOKENS + len(self.rest)

    @property
    def blocks(self) -> int:
        """Blocks that hold any of the prompt, the one that a context completes among them."""
        return -(-self.tokens // BLOCK_TOKENS)


@dataclass(frozen=True)
class FlowState:
    """A context between two hops. All hops but the last end where a block does."""

    voice: FlowVoice
    kept: tuple[Kept, ...]
    """Its own pages, without the voice's."""
    tail: tuple[int, ...]
    """The two tokens before the next."""
    tokens_done: int
    """Without the prompt's."""
    window_blocks: int | None
    ended: bool
    on_host: HostPages | None = None
    """Its pages while they are away from the device; ``kept`` is empty then."""

    @property
    def bytes(self) -> int:
        """Device memory this holds, without the voice's."""
        return len(self.kept) * self.voice.page_bytes

    @property
    def position(self) -> int:
        """The next token, counted from the start of the prompt."""
        return self.voice.tokens + self.tokens_done

    @property
    def rest(self) -> tuple[int, ...]:
        """Tokens of the prompt that are still to be computed."""
        return self.voice.rest if self.tokens_done == 0 else ()


@dataclass
class Run:
    """Blocks of one context on their way through the Euler steps."""

    x: Tensor
    """(blocks, 50, 80) float32."""
    given: Tensor
    rows: tuple[HostRow, ...]
    """As of step 0."""
    kept: tuple[Kept, ...]
    """The pages that the run fills."""
    frames: int
    """How many of the blocks' frames exist."""
    step: int = 0

    @property
    def steps_left(self) -> int:
        """Euler steps to go."""
        return EULER_STEPS - self.step if self.rows else 0

    def stepped(self) -> None:
        """One step further. At the last the pages belong to what comes after alone."""
        self.step += 1
        if self.steps_left == 0:
            self.kept = ()


@dataclass
class Hop:
    """A hop of one context; ``Flow.euler`` takes it a step further."""

    run: Run
    after: FlowState = field(repr=False)
    """The state once the hop is done."""
    skip_frames: int
    """Of the prompt, at the run's beginning."""

    @property
    def steps_left(self) -> int:
        """Euler steps to go."""
        return self.run.steps_left

    @property
    def done(self) -> bool:
        """``mel`` and ``state`` are there."""
        return self.steps_left == 0

    @property
    def mel(self) -> Tensor:
        """(frames, 80) float32, on the flow's device: two frames for each new token."""
        if not self.done:
            raise ValueError(f"the hop has {self.steps_left} Euler steps to go: it has no mel yet")
        return self.run.x.flatten(0, 1)[self.skip_frames : self.run.frames]

    @property
    def state(self) -> FlowState:
        """Where the next hop starts."""
        if not self.done:
            raise ValueError(f"the hop has {self.steps_left} Euler steps to go: it has no state")
        return self.after


@dataclass
class VoiceHop:
    """A prompt's whole blocks on their way; steps of it share batches with those of hops."""

    run: Run
    after: FlowVoice = field(repr=False)

    @property
    def steps_left(self) -> int:
        """Euler steps to go."""
        return self.run.steps_left

    @property
    def done(self) -> bool:
        """``voice`` is there."""
        return self.steps_left == 0

    @property
    def voice(self) -> FlowVoice:
        """The voice, whole."""
        if not self.done:
            raise ValueError(f"the voice has {self.steps_left} Euler steps to go")
        return self.after
