"""The device's part of a step: a table in, choices out; nothing else crosses to the host.

What a slot draws stays on the device, in its history, where its next step finds it.
Does not know: decodings, how tables are made, graphs.
"""

from __future__ import annotations

import torch
from torch import Tensor

from streaming.cosyvoice.llm import packing
from streaming.cosyvoice.llm.attention import (
    Chunk,
    InPlace,
    Look,
    Reads,
    SideBySide,
    chunk_bias,
    row_bias,
)
from streaming.cosyvoice.llm.body import Place, rotary_table
from streaming.cosyvoice.llm.cache import KvCache
from streaming.cosyvoice.llm.ids import FILL
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.packing import StepShape, idle_table
from streaming.cosyvoice.llm.sampler import RING, Draw, Sampler
from streaming.cosyvoice.tiles import Kernels


class Stepper:
    """Model, cache and history of one decoder: what a captured step closes over."""

    def __init__(
        self, model: SpeechLlm, cache: KvCache, sampler: Sampler, kernels: Kernels | None = None
    ) -> None:
        sizes = model.sizes
        self._kernels = kernels
        self.model = model
        self.cache = cache
        self.sampler = sampler
        self.device = model.device
        self._groups = sizes.heads // sizes.kv_heads
        self.history = torch.full((cache.rows, RING), -1, dtype=torch.int64, device=model.device)
        table = rotary_table(sizes.hidden // sizes.heads, sizes.rope_theta, cache.positions + 1)
        self._cos, self._sin = (part.to(model.device) for part in table)

    def run(self, table: Tensor, shape: StepShape, chunks: tuple[Chunk, ...] = ()) -> Tensor:
        """Choices (draws,) int64 on the device, for ``table`` (9, N) on the device."""
        codes, slots, positions, write_at = table[: packing.TAKE, : shape.tokens].unbind()
        drawn = self.history[slots, (-1 - codes).clamp(min=0)]
        codes = torch.where(codes < 0, drawn, codes)
        dtype = self.cache.keys.dtype
        reads = Reads(
            rows=shape.rows,
            look=self._look(slots[: shape.rows], positions[: shape.rows], shape),
            chunks=chunks,
            chunk_biases=tuple(
                chunk_bias(chunk, self._groups, self.device, dtype) for chunk in chunks
            ),
        )
        rotary = (self._cos[positions], self._sin[positions])
        hidden = self.model.hidden(codes, Place(self.cache, reads, slots, write_at, rotary))
        if not shape.draws:
            return codes[:0]
        take, *draw = table[packing.TAKE :, : shape.draws].unbind()
        logits = self.model.logits(hidden[take])
        draws = Draw(*draw)
        choices = self.sampler(logits, self.history, draws)
        # Whatever it was, it can be fed: of a row that broke nothing more is heard.
        self.history[draws.slots, draws.steps % RING] = choices.clamp(0, FILL)
        return choices

    def _look(self, slots: Tensor, positions: Tensor, shape: StepShape) -> Look:
        if self._kernels is not None:
            return InPlace(self._kernels, self.cache.tiles(slots, positions))
        bias = row_bias(positions, shape.length, self.cache.keys.dtype)
        return SideBySide(shape.length, shape.dense, slots, bias)

    def idle_table(self, shape: StepShape) -> Tensor:
        """A table of padding alone: it can be computed at any time and leaves nothing behind."""
        return idle_table(shape, self.cache).to(self.device)
