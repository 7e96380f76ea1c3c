"""Version 2's flow made ready for streaming: the same modules, cast, over pages.

The products of the Conformer and the U-Net run in ``dtype``, and so is what they keep; norms,
softmax, the sums that layers add to, all that depends on time, the lookahead and the state of the
equation stay in float32. Knows: one Euler step of a batch of blocks. Does not know: whose blocks
they are.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.compiling import Compile, as_it_is
from streaming.cosyvoice.flow.attention import Way, usual_way
from streaming.cosyvoice.flow.base import GUIDANCE_ROWS, ZERO_PAGE, Piece, Rows, Shelf
from streaming.cosyvoice.flow.solver import schedule
from streaming.cosyvoice.flow.v2.conformer import UP_CONTEXT_TOKENS, UP_LAYERS, RelativeAttention
from streaming.cosyvoice.flow.v2.memory import Blocks, Pages
from streaming.cosyvoice.flow.v2.module import FlowV2
from streaming.cosyvoice.flow.v2.relative import Distances
from streaming.cosyvoice.flow.v2.sliding import SlidingConv
from streaming.cosyvoice.flow.v2.unet import CONTEXT_FRAMES, Attention
from streaming.cosyvoice.sizes import BLOCK_FRAMES, BLOCK_TOKENS, EULER_STEPS, MEL_BANDS
from streaming.cosyvoice.transfer import moved


class NetworkV2:
    """``model``'s weights as a :class:`~streaming.cosyvoice.flow.base.Network`.

    ``model`` is in float32 and stays as it is. ``way`` is that of its U-Net's attention; by default
    every device but the CPU gathers. ``compiled`` may compile what is done to a frame by itself.
    """

    def __init__(
        self,
        model: FlowV2,
        *,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        way: Way | None = None,
        compiled: Compile = as_it_is,
    ) -> None:
        self._device, self._dtype = device, dtype
        self._way = way or usual_way(device)
        self._sizes = model.sizes
        with torch.inference_mode():
            self._model = copy.deepcopy(model).to(device)
            self._unet = self._model.decoder.estimator
            self._shifts = self._unet.shifts(schedule()[0].to(device))
            self._distances = Distances()
            self._cast()
        self._unet.compile_parts(compiled)

    def _cast(self) -> None:
        """Products alone: the parameters of norms stay in float32."""
        for network in (
            self._unet,
            self._model.encoder.encoders,
            self._model.encoder.up_layer,
            self._model.encoder.up_encoders,
        ):
            for module in network.modules():
                if isinstance(module, nn.Linear | SlidingConv | RelativeAttention):
                    module.to(self._dtype)
        for module in self._unet.modules():
            if isinstance(module, Attention):
                module.join()

    @property
    def device(self) -> torch.device:
        """Where weights and pages are."""
        return self._device

    @property
    def shelves(self) -> Mapping[str, Shelf]:
        """The U-Net's keys, values and convolutions' contexts; the Conformer's at both rates."""
        sizes, dtype = self._sizes, self._dtype
        heads = GUIDANCE_ROWS * sizes.heads
        near = (CONTEXT_FRAMES, self._unet.context_channels)
        pair = (2, sizes.encoder_heads)
        head_dim = sizes.encoder_dim // sizes.encoder_heads
        return {
            "kv": Shelf(
                (self._unet.layers, 2, EULER_STEPS, heads), (BLOCK_FRAMES, sizes.head_dim), dtype
            ),
            "near": Shelf((EULER_STEPS, GUIDANCE_ROWS), near, dtype),
            "tokens": Shelf((sizes.encoder_blocks, *pair), (BLOCK_TOKENS, head_dim), dtype),
            "doubling": Shelf((), (UP_CONTEXT_TOKENS, sizes.encoder_dim), dtype),
            "frames": Shelf((UP_LAYERS, *pair), (BLOCK_FRAMES, head_dim), dtype),
        }

    def speaker(self, embedding: Tensor) -> Tensor:
        """(192,) to (80,)."""
        direction = F.normalize(moved(embedding.float(), self._device), dim=0)
        projected: Tensor = self._model.spk_embed_affine_layer(direction)
        return projected

    def encode(self, piece: Piece, shelves: Mapping[str, Tensor]) -> Tensor:
        """A run's tokens as frames, (2 * run, 80) float32."""
        encoder, doubling = self._model.encoder, shelves["doubling"]
        run = piece.tokens.shape[0] - piece.before - piece.after
        slow = Blocks(piece, run, BLOCK_TOKENS, shelves["tokens"])
        fast = Blocks(piece, run * BLOCK_FRAMES // BLOCK_TOKENS, BLOCK_FRAMES, shelves["frames"])
        x = encoder.tokens(
            self._model.input_embedding(piece.tokens),
            slow,
            self._distances,
            before=piece.before,
            after=piece.after,
        )
        for number, page in enumerate(piece.pages[: run // BLOCK_TOKENS], start=1):
            end = number * BLOCK_TOKENS
            doubling[page] = x[end - UP_CONTEXT_TOKENS : end]
        before = doubling[piece.past[-1] if piece.past else ZERO_PAGE]
        frames = encoder.frames(torch.cat([before, x]), fast, self._distances)
        encoded: Tensor = self._model.encoder_proj(frames)
        return encoded

    def given(self, mu: Tensor, mel: Tensor, speaker: Tensor) -> Tensor:
        """The conditions beside each other, (blocks, 50, 240)."""
        return torch.cat([mu, speaker.expand_as(mu), mel], dim=-1).to(self._dtype)

    def velocity(self, rows: Rows, shelves: Mapping[str, Tensor]) -> Tensor:
        """(B, 2, 50, 80) float32."""
        kv = shelves["kv"]
        past = Pages(rows, self._way(rows, kv[0]), kv, shelves["near"])
        conditions = torch.stack([rows.given, torch.zeros_like(rows.given)], dim=1)
        state = rows.x.to(self._dtype)[:, None].expand(-1, GUIDANCE_ROWS, -1, -1)
        frames = torch.cat([state, conditions], dim=-1).flatten(0, 1)
        shifts = self._shifts[rows.step].repeat_interleave(GUIDANCE_ROWS, dim=0)
        slope: Tensor = self._unet(frames, shifts, past)
        return slope.view(-1, GUIDANCE_ROWS, BLOCK_FRAMES, MEL_BANDS)
