"""The flow as a stream: tokens of many contexts in, hops of mel frames out, exactly the whole.

Each hop is solved once, from its own blocks and the pages of those before, so that what was said
costs nothing again but being looked at. Hops end where blocks do, which makes them equal to one
pass over everything under the block mask, however they are cut. Knows: voices, contexts, Euler
steps. Does not know: a generation's network, when a hop is worth making, or who waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor

from streaming.cosyvoice.capture import made_ready
from streaming.cosyvoice.flow import cut, runs
from streaming.cosyvoice.flow.base import SCRAP_PAGE, FlowPrompt, Network, Rows
from streaming.cosyvoice.flow.batch import FILLING, Shapes, batched
from streaming.cosyvoice.flow.host import HostMemory
from streaming.cosyvoice.flow.lookahead import TOKENS_BEFORE
from streaming.cosyvoice.flow.pool import Pool
from streaming.cosyvoice.flow.solver import guided, schedule
from streaming.cosyvoice.flow.values import FlowState, FlowVoice, Hop, Kept, Run, VoiceHop
from streaming.cosyvoice.sizes import (
    BLOCK_FRAMES,
    BLOCK_TOKENS,
    FRAMES_PER_TOKEN,
    LOOKAHEAD_TOKENS,
    MEL_BANDS,
    SPEECH_TOKENS,
    TOKENS_PER_S,
)
from streaming.cosyvoice.transfer import moved

Moved = TypeVar("Moved", FlowState, FlowVoice)

Advance = Callable[[Rows], Tensor]
"""One Euler step of a batch: its ``x`` a step later, (B, 50, 80)."""


class Flow:
    """One network and the memory of its contexts and voices."""

    def __init__(
        self,
        network: Network,
        *,
        budget_bytes: int,
        shapes: Shapes | None = None,
        wrap: Callable[[Advance], Advance] | None = None,
        host_bytes: int = 0,
    ) -> None:
        """``wrap`` may compile or capture a step; ``shapes`` keeps those few that it meets.

        ``host_bytes`` is what may be taken of the host by those who are away from the device.
        """
        self._network = network
        self._shapes = shapes or Shapes()
        self.device = network.device
        self._lengths = schedule()[1].to(network.device)
        self.pool = Pool(network.shelves, budget_bytes=budget_bytes, device=network.device)
        self.host = HostMemory(self.pool, host_bytes)
        self._advance = wrap(self._advanced) if wrap else self._advanced

    @torch.inference_mode()
    def warm(self, rows: int, pages: int) -> int:
        """Run a step of every shape up to so many rows and pages, on scrap; how many there are.

        What is compiled or captured for a shape is then there before anyone waits for it.
        """
        shapes = [  # the largest first: the others use its memory
            (count, deep)
            for count in reversed(self._shapes.rows)
            for deep in reversed(self._shapes.pages)
            if count <= rows and deep <= pages
        ]
        return made_ready("flow", shapes, self._run_blank)

    def _run_blank(self, shape: tuple[int, int]) -> None:
        """A step of so many rows and pages."""
        (count, deep), device = shape, self._network.device
        blank = torch.zeros(count, BLOCK_FRAMES, MEL_BANDS, device=device)
        given = self._network.given(blank, blank, torch.zeros(MEL_BANDS, device=device))
        row = replace(FILLING, table=(SCRAP_PAGE,) * deep, keys=deep * BLOCK_FRAMES)
        run = Run(x=blank, given=given, rows=(row,) * count, kept=(), frames=0)
        self._advance(batched([run], self._shapes, device))

    def voice(
        self,
        prompt: FlowPrompt,
        *,
        prompt_s: float | None = None,
        first_hop_tokens: int | None = None,
    ) -> FlowVoice:
        """A voice, made at once; see :meth:`prepare`."""
        hop = self.prepare(prompt, prompt_s=prompt_s, first_hop_tokens=first_hop_tokens)
        while not hop.done:
            self.euler([hop])
        return hop.voice

    @torch.inference_mode()
    def prepare(
        self,
        prompt: FlowPrompt,
        *,
        prompt_s: float | None = None,
        first_hop_tokens: int | None = None,
    ) -> VoiceHop:
        """A voice, to be made step by step; ``cut.prompt_tokens`` says how the prompt is cut.

        Raises :class:`~streaming.cosyvoice.flow.pool.OutOfPages`, and ``ValueError`` for a
        prompt whose mel is not of two frames a token.
        """
        _check(prompt)
        count = cut.prompt_tokens(
            len(prompt.tokens), prompt_s=prompt_s, first_hop_tokens=first_hop_tokens
        )
        whole = cut.whole_blocks(count) * BLOCK_TOKENS
        tokens, mel = prompt.tokens[:count], moved(prompt.mel.float(), self._network.device)
        request = runs.Request(
            speaker=self._network.speaker(prompt.embedding),
            past=(),
            tail=(),
            tokens=tokens[: whole + LOOKAHEAD_TOKENS] if whole else (),
            ahead=LOOKAHEAD_TOKENS if whole else 0,
            mel=mel[: whole * FRAMES_PER_TOKEN],
        )
        run = runs.make(request, self._network, self.pool)
        voice = FlowVoice(
            speaker=request.speaker,
            kept=run.kept,
            tail=tokens[:whole][-TOKENS_BEFORE:],
            rest=tokens[whole:],
            rest_mel=mel[whole * FRAMES_PER_TOKEN : count * FRAMES_PER_TOKEN].clone(),
            page_bytes=self.pool.page_bytes,
        )
        return VoiceHop(run, voice)

    def begin(self, voice: FlowVoice, *, window_s: float | None = None) -> FlowState:
        """A context's beginning. With ``window_s`` it looks back so far, to whole blocks."""
        window = None
        if window_s is not None:
            window = max(1, round(window_s * TOKENS_PER_S / BLOCK_TOKENS))
        return FlowState(
            voice=voice,
            kept=(),
            tail=voice.tail,
            tokens_done=0,
            window_blocks=window,
            ended=False,
        )

    def next_hop(self, state: FlowState) -> int:
        """New tokens to the end of the next block that has any; a hop may be longer by blocks."""
        return cut.to_block_end(state.position)

    @torch.inference_mode()
    def start(self, state: FlowState, tokens: Sequence[int], *, last: bool) -> Hop:
        """A hop over the next ``tokens`` of the context; ``state`` stays as it is.

        Unless it is the last, a hop has ``next_hop`` tokens and any number of blocks more, and
        then the 3 after it, which it only looks at: give those again with the next hop. The last
        has all that are left. Raises ``ValueError`` for other numbers of tokens, and
        :class:`~streaming.cosyvoice.flow.pool.OutOfPages`.
        """
        ahead = 0 if last else LOOKAHEAD_TOKENS
        new = len(tokens) - ahead
        self._check(state, new, last=last)
        check_tokens(tokens)
        voice = state.voice
        request = runs.Request(
            speaker=voice.speaker,
            past=(*voice.kept, *state.kept),
            tail=state.tail,
            tokens=(*state.rest, *tokens) if new else (),
            ahead=ahead,
            mel=voice.rest_mel[: len(state.rest) * FRAMES_PER_TOKEN],
            sight=runs.Sight(state.window_blocks, voice.blocks),
        )
        run = runs.make(request, self._network, self.pool)
        seen_next = request.sight.of(request.first + request.blocks, (*state.kept, *run.kept))
        after = replace(
            state,
            kept=() if last else seen_next,
            tail=(*state.tail, *request.tokens[: request.count])[-TOKENS_BEFORE:],
            tokens_done=state.tokens_done + new,
            ended=last,
        )
        return Hop(run, after, skip_frames=len(state.rest) * FRAMES_PER_TOKEN)

    def _check(self, state: FlowState, new: int, *, last: bool) -> None:
        if state.ended:
            raise ValueError("the context's last hop was made: it takes no more tokens")
        if state.on_host is not None:
            raise ValueError("the context's pages are on the host: take them to the device first")
        least = self.next_hop(state)
        if not last and (new < least or (new - least) % BLOCK_TOKENS):
            raise ValueError(
                f"a hop of {new} tokens and {LOOKAHEAD_TOKENS} to look at does not end where a "
                f"block does: give {least} and any multiple of {BLOCK_TOKENS} more"
            )

    @torch.inference_mode()
    def to_host(self, one: Moved) -> Moved:
        """The same context, or voice, with its pages on the host: here they are nobody's then.

        What names the one that is given still finds them, as long as it does. Raises
        :class:`~streaming.cosyvoice.flow.host.OutOfHostMemory`.
        """
        if not one.kept:
            return one
        blocks = [kept.block for kept in one.kept]
        away = self.host.store(blocks, [kept.page for kept in one.kept])
        return replace(one, kept=(), on_host=away)

    @torch.inference_mode()
    def to_device(self, one: Moved) -> Moved:
        """The same context, or voice, with its pages, others than before, on the device.

        Raises :class:`~streaming.cosyvoice.flow.pool.OutOfPages`.
        """
        away = one.on_host
        if away is None:
            return one
        pages = self.pool.take(len(away.blocks), after=_last_page(one))
        self.host.restore(away, pages)
        kept = tuple(map(Kept, away.blocks, pages))
        return replace(one, kept=kept, on_host=None)

    @torch.inference_mode()
    def euler(self, hops: Sequence[Hop | VoiceHop]) -> None:
        """One Euler step of each, in one batch; they may be at different ones."""
        if any(hop.done for hop in hops):
            raise ValueError("a hop that is done has no Euler step left")
        together = [hop.run for hop in hops]
        x = self._advance(batched(together, self._shapes, self._network.device))
        rows = 0
        for run in together:
            run.x = x[rows : rows + len(run.rows)]
            rows += len(run.rows)
            run.stepped()

    def _advanced(self, rows: Rows) -> Tensor:
        slope = guided(self._network.velocity(rows, self.pool.shelves))
        x = rows.x + self._lengths[rows.step][:, None, None] * slope
        frames = (rows.keys - 1) % BLOCK_FRAMES + 1
        there = torch.arange(BLOCK_FRAMES, device=x.device) < frames[:, None]
        return torch.where(there[..., None], x, 0.0)


def _last_page(one: FlowState | FlowVoice) -> int | None:
    """Of what stands before its own pages, so that they come to lie behind it."""
    before = one.voice.kept if isinstance(one, FlowState) else ()
    return before[-1].page.index if before else None


def check_tokens(tokens: Sequence[int]) -> None:
    """``ValueError`` for an id that is no sound: on a device it would be everyone's fault."""
    for token in tokens:
        if not 0 <= token < SPEECH_TOKENS:
            raise ValueError(f"speech token {token} is no sound: ids are 0 to {SPEECH_TOKENS - 1}")


def _check(prompt: FlowPrompt) -> None:
    check_tokens(prompt.tokens)
    frames, tokens = prompt.mel.shape[0], len(prompt.tokens)
    if frames != tokens * FRAMES_PER_TOKEN:
        raise ValueError(
            f"the prompt has {tokens} tokens and {frames} mel frames: two frames a token are needed"
        )
