"""Version 3's flow made ready for streaming: weights joined and cast, what time says looked up.

Matrix products and convolutions run in ``dtype``; norms, softmax, the residual stream, all that
depends on time and the state of the equation stay in float32. Knows: one Euler step of a batch of
blocks. Does not know: whose blocks they are.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.compiling import Compile, as_it_is
from streaming.cosyvoice.flow.attention import Attention, Way, usual_way
from streaming.cosyvoice.flow.base import GUIDANCE_ROWS, Piece, Rows, Shelf
from streaming.cosyvoice.flow.solver import schedule
from streaming.cosyvoice.flow.v3.module import CONV_GROUPS, KERNEL, FlowV3, normed
from streaming.cosyvoice.sizes import BLOCK_FRAMES, EULER_STEPS, FRAMES_PER_TOKEN, MEL_BANDS
from streaming.cosyvoice.transfer import moved

LEFT_FRAMES = KERNEL - 1
"""Frames that a position convolution sees to the left."""

Affine = tuple[Tensor, Tensor]
"""Weight and bias."""


@dataclass(frozen=True)
class Layer:
    """One layer's weights, and what time says to it: (10, 6, dim), 1 added to its scales."""

    qkv: Affine
    out: Affine
    up: Affine
    down: Affine
    says: Tensor


class NetworkV3:
    """``model``'s weights as a :class:`~streaming.cosyvoice.flow.base.Network`.

    ``model`` is in float32; for the same device and precision weights are shared, else copied.
    ``way`` is that of its attention; by default every device but the CPU gathers. ``compiled`` may
    compile what a layer does to a frame by itself.
    """

    def __init__(
        self,
        model: FlowV3,
        *,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        way: Way | None = None,
        compiled: Compile = as_it_is,
    ) -> None:
        self._device, self._dtype = device, dtype
        self._modulate, self._feed_forward = compiled(modulated), compiled(fed_forward)
        self._way = way or usual_way(device)
        self._sizes = model.sizes
        with torch.inference_mode():
            self._embedding = copy.deepcopy(model.input_embedding).to(device)
            self._lookahead = copy.deepcopy(model.pre_lookahead_layer).to(device)
            self._speaker = copy.deepcopy(model.spk_embed_affine_layer).to(device)
            self._prepare(model)

    def _prepare(self, model: FlowV3) -> None:
        dit = model.decoder.estimator
        time = dit.time_embed(schedule()[0].to(dit.proj_out.weight.device))
        self._rotary = copy.deepcopy(dit.rotary_embed).to(self._device)
        wide = dit.input_embed.proj
        self._from_state = self._cast(wide.weight[:, :MEL_BANDS])
        self._from_given = wide.weight[:, MEL_BANDS:].to(self._device)
        self._nothing = wide.bias.to(self._device)
        near = dit.input_embed.conv_pos_embed
        self._near = [self._affine(near, "conv1.0"), self._affine(near, "conv2.0")]
        self._layers = [self._layer(block, time) for block in dit.transformer_blocks]
        self._out = self._affine(dit, "proj_out")
        self._out_says = self._said(dit.norm_out(time), scales=[0])

    def _layer(self, block: nn.Module, time: Tensor) -> Layer:
        heads = [f"attn.to_{name}" for name in "qkv"]
        return Layer(
            qkv=self._affine(block, *heads),
            out=self._affine(block, "attn.to_out.0"),
            up=self._affine(block, "ff.ff.0.0"),
            down=self._affine(block, "ff.ff.2"),
            says=self._said(block.get_submodule("attn_norm")(time), scales=[1, 4]),
        )

    def _said(self, parts: Tensor, scales: list[int]) -> Tensor:
        parts[:, scales] += 1
        return parts.to(self._device)

    def _affine(self, module: nn.Module, *names: str) -> Affine:
        """The named layers of ``module``, one below the other."""
        weights: list[Tensor] = [module.get_parameter(f"{name}.weight") for name in names]
        biases: list[Tensor] = [module.get_parameter(f"{name}.bias") for name in names]
        if len(names) == 1:
            return self._cast(weights[0]), self._cast(biases[0])
        return self._cast(torch.cat(weights)), self._cast(torch.cat(biases))

    def _cast(self, weight: Tensor) -> Tensor:
        return weight.to(self._device, self._dtype).contiguous()

    @property
    def device(self) -> torch.device:
        """Where weights and pages are."""
        return self._device

    @property
    def shelves(self) -> Mapping[str, Shelf]:
        """Keys and values of each layer, and what both convolutions see to the left."""
        sizes = self._sizes
        heads = GUIDANCE_ROWS * sizes.heads
        keep = (BLOCK_FRAMES, sizes.head_dim)
        near = (LEFT_FRAMES, sizes.dim)
        return {
            "kv": Shelf((sizes.depth, 2, EULER_STEPS, heads), keep, self._dtype),
            "near": Shelf((2, EULER_STEPS, GUIDANCE_ROWS), near, self._dtype),
        }

    def speaker(self, embedding: Tensor) -> Tensor:
        """(192,) to (80,)."""
        projected: Tensor = self._speaker(
            F.normalize(moved(embedding.float(), self._device), dim=0)
        )
        return projected

    def encode(self, piece: Piece, shelves: Mapping[str, Tensor]) -> Tensor:  # noqa: ARG002 - version 2's encoder keeps something
        """A run's tokens as frames, (2 * run, 80)."""
        embedded = self._embedding(piece.tokens)[None]
        ahead: Tensor = self._lookahead(embedded, before=piece.before, after=piece.after)
        return ahead[0].repeat_interleave(FRAMES_PER_TOKEN, dim=0)

    def given(self, mu: Tensor, mel: Tensor, speaker: Tensor) -> Tensor:
        """What conditions add to the input, (blocks, 50, dim) float32."""
        conditions = torch.cat([mel, mu, speaker.expand_as(mu)], dim=-1)
        return F.linear(conditions, self._from_given, self._nothing)

    def velocity(self, rows: Rows, shelves: Mapping[str, Tensor]) -> Tensor:
        """(B, 2, 50, 80) float32."""
        shelf = shelves["kv"]
        attention = self._way(rows, shelf[0])
        frame = torch.arange(BLOCK_FRAMES, device=self._device)
        turn = self._rotary(rows.position[:, None] + frame)
        frames = self._embedded(rows, shelves["near"])
        for layer, kept in zip(self._layers, shelf, strict=True):
            says = layer.says[rows.step][:, :, None, None]
            frames = self._attended(layer, frames, says[:, :3].unbind(1), turn, attention, kept)
            frames = self._fed_forward(layer, frames, says[:, 3:].unbind(1))
        scale, shift = self._out_says[rows.step][:, :, None, None].unbind(1)
        last = self._modulate(frames, shift, scale, self._dtype)
        return F.linear(last, *self._out).float()

    def _embedded(self, rows: Rows, shelf: Tensor) -> Tensor:
        """(B, 2, 50, dim) float32: state and conditions, told of the frames to the left."""
        state = F.linear(rows.x.to(self._dtype), self._from_state).float()
        wide = torch.stack([state + rows.given, state + self._nothing], dim=1)
        near = wide.to(self._dtype)
        for kept, (weight, bias) in zip(shelf, self._near, strict=True):
            kept[rows.step, :, rows.page] = near[:, :, -LEFT_FRAMES:]
            left = kept[rows.step, :, rows.before]
            seen = torch.cat([left, near], dim=2).flatten(0, 1).transpose(1, 2)
            convolved = F.conv1d(seen, weight, bias, groups=CONV_GROUPS).transpose(1, 2)
            near = F.mish(convolved).reshape(near.shape)
        return wide + near

    def _attended(
        self,
        layer: Layer,
        frames: Tensor,
        says: tuple[Tensor, ...],
        turn: Tensor,
        attention: Attention,
        kept: Tensor,
    ) -> Tensor:
        shift, scale, gate = says
        sizes = self._sizes
        asked = self._modulate(frames, shift, scale, self._dtype)
        qkv = F.linear(asked, *layer.qkv).view(*frames.shape[:3], 3, sizes.heads, sizes.head_dim)
        mixed = F.linear(attention(kept, qkv, turn).flatten(3), *layer.out)
        return frames + gate * mixed

    def _fed_forward(self, layer: Layer, frames: Tensor, says: tuple[Tensor, ...]) -> Tensor:
        return self._feed_forward(frames, *says, *layer.up, *layer.down)


def modulated(frames: Tensor, shift: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    """Normed frames as the time wants them, in ``dtype``."""
    return torch.addcmul(shift, normed(frames), scale).to(dtype)


def fed_forward(
    frames: Tensor,
    shift: Tensor,
    scale: Tensor,
    gate: Tensor,
    up: Tensor,
    up_bias: Tensor,
    down: Tensor,
    down_bias: Tensor,
) -> Tensor:
    """Frames (..., dim) float32 and what their layer's second half adds; products as weights."""
    asked = modulated(frames, shift, scale, up.dtype)
    hidden = F.gelu(F.linear(asked, up, up_bias), approximate="tanh")
    return frames + gate * F.linear(hidden, down, down_bias)
