"""Version 3's flow as the checkpoint names it, and its plain computation, whole.

Source of the structure: the official ``flow.pt`` and the DiT it belongs to. Knows: parameters and
one pass over everything. Does not know: streaming; ``network`` makes these weights ready for it,
and must come to the same result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.lookahead import Lookahead
from streaming.cosyvoice.flow.mask import block_mask
from streaming.cosyvoice.flow.rotary import Rotary, turned
from streaming.cosyvoice.flow.solver import guided, noise_at, schedule
from streaming.cosyvoice.sizes import (
    FRAMES_PER_TOKEN,
    MEL_BANDS,
    SPEAKER_SIZE,
    SPEECH_TOKENS,
    DitSizes,
)

KERNEL = 31
"""Of the two convolutions that tell a frame its place."""

CONV_GROUPS = 16
TIME_SIZE = 256
TIME_SCALE = 1000.0
NORM_EPS = 1e-6
INPUT_BANDS = 4 * MEL_BANDS
"""State, prompt, tokens, speaker."""


class TimeEmbedding(nn.Module):
    """Where on the way from noise to speech an Euler step is."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.time_mlp = nn.Sequential(nn.Linear(TIME_SIZE, dim), nn.SiLU(), nn.Linear(dim, dim))

    def forward(self, times: Tensor) -> Tensor:
        """``(K,)`` of 0..1 to ``(K, dim)``."""
        half = TIME_SIZE // 2
        rates = torch.exp(torch.arange(half, device=times.device) * -(math.log(10000) / (half - 1)))
        angles = TIME_SCALE * times[:, None] * rates
        embedded: Tensor = self.time_mlp(torch.cat([angles.sin(), angles.cos()], dim=-1))
        return embedded


class Modulation(nn.Module):
    """What the time says to a layer: ``parts`` vectors."""

    def __init__(self, dim: int, parts: int) -> None:
        super().__init__()
        self.parts = parts
        self.linear = nn.Linear(dim, dim * parts)

    def forward(self, time: Tensor) -> Tensor:
        """``(K, dim)`` to ``(K, parts, dim)``."""
        spoken: Tensor = self.linear(F.silu(time))
        return spoken.view(*time.shape[:-1], self.parts, -1)


class Attention(nn.Module):
    """Frames look at frames."""

    def __init__(self, dim: int, heads: int, head_dim: int) -> None:
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(dim, heads * head_dim)
        self.to_k = nn.Linear(dim, heads * head_dim)
        self.to_v = nn.Linear(dim, heads * head_dim)
        self.to_out = nn.ModuleList([nn.Linear(heads * head_dim, dim)])

    def forward(self, frames: Tensor, turn: Tensor, mask: Tensor | None) -> Tensor:
        """``(R, T, dim)`` of rows R; ``mask`` (T, T) is True where a frame may look."""
        query, key, value = (
            project(frames).view(*frames.shape[:-1], self.heads, -1).transpose(1, 2)
            for project in (self.to_q, self.to_k, self.to_v)
        )
        seen = F.scaled_dot_product_attention(
            _first_head_turned(query, turn), _first_head_turned(key, turn), value, mask
        )
        mixed: Tensor = self.to_out[0](seen.transpose(1, 2).flatten(2))
        return mixed


def _first_head_turned(heads: Tensor, turn: Tensor) -> Tensor:
    return torch.cat([turned(heads[:, :1], turn), heads[:, 1:]], dim=1)


class FeedForward(nn.Module):
    """A frame by itself."""

    def __init__(self, dim: int, times: int) -> None:
        super().__init__()
        up = nn.Sequential(nn.Linear(dim, dim * times), nn.GELU(approximate="tanh"))
        # The nothing in the middle is where the official one drops out: it holds the number 1.
        self.ff = nn.Sequential(up, nn.Identity(), nn.Linear(dim * times, dim))

    def forward(self, frames: Tensor) -> Tensor:
        """``(..., dim)`` to the same."""
        out: Tensor = self.ff(frames)
        return out


class Block(nn.Module):
    """One layer of the transformer."""

    def __init__(self, sizes: DitSizes) -> None:
        super().__init__()
        self.attn_norm = Modulation(sizes.dim, 6)
        self.attn = Attention(sizes.dim, sizes.heads, sizes.head_dim)
        self.ff = FeedForward(sizes.dim, sizes.feed_forward)

    def forward(self, frames: Tensor, time: Tensor, turn: Tensor, mask: Tensor | None) -> Tensor:
        """``(R, T, dim)`` at one time (1, dim)."""
        shift, scale, gate, ff_shift, ff_scale, ff_gate = self.attn_norm(time).unbind(1)
        frames = frames + gate * self.attn(normed(frames) * (1 + scale) + shift, turn, mask)
        frames = frames + ff_gate * self.ff(normed(frames) * (1 + ff_scale) + ff_shift)
        return frames  # noqa: RET504 - the name gives it its type


def normed(frames: Tensor) -> Tensor:
    """Each frame with mean 0 and variance 1."""
    return F.layer_norm(frames, frames.shape[-1:], eps=NORM_EPS)


class PositionConvolutions(nn.Module):
    """Two causal convolutions that tell a frame what is near."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv1d(dim, dim, KERNEL, groups=CONV_GROUPS), nn.Mish())
        self.conv2 = nn.Sequential(nn.Conv1d(dim, dim, KERNEL, groups=CONV_GROUPS), nn.Mish())

    def forward(self, frames: Tensor) -> Tensor:
        """``(R, T, dim)`` to the same."""
        channels = frames.transpose(1, 2)
        for convolution in (self.conv1, self.conv2):
            channels = convolution(F.pad(channels, (KERNEL - 1, 0)))
        near: Tensor = channels.transpose(1, 2)
        return near


class InputEmbedding(nn.Module):
    """State and conditions to the transformer's width."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.proj = nn.Linear(INPUT_BANDS, dim)
        self.conv_pos_embed = PositionConvolutions(dim)

    def forward(self, frames: Tensor) -> Tensor:
        """``(R, T, 320)`` to ``(R, T, dim)``."""
        wide: Tensor = self.proj(frames)
        near: Tensor = self.conv_pos_embed(wide)
        return near + wide


class Dit(nn.Module):
    """The slope of the equation, for all frames at once."""

    def __init__(self, sizes: DitSizes) -> None:
        super().__init__()
        self.time_embed = TimeEmbedding(sizes.dim)
        self.input_embed = InputEmbedding(sizes.dim)
        self.rotary_embed = Rotary(sizes.head_dim)
        self.transformer_blocks = nn.ModuleList(Block(sizes) for _ in range(sizes.depth))
        self.norm_out = Modulation(sizes.dim, 2)
        self.proj_out = nn.Linear(sizes.dim, MEL_BANDS)

    def forward(self, frames: Tensor, time: Tensor, mask: Tensor | None) -> Tensor:
        """``(R, T, 320)`` at ``time`` (1,) to ``(R, T, 80)``."""
        embedded = self.time_embed(time)
        turn = self.rotary_embed(torch.arange(frames.shape[1], device=frames.device))
        frames = self.input_embed(frames)
        for block in self.transformer_blocks:
            frames = block(frames, embedded, turn, mask)
        scale, shift = self.norm_out(embedded).unbind(1)
        slope: Tensor = self.proj_out(normed(frames) * (1 + scale) + shift)
        return slope


class Decoder(nn.Module):
    """Only a name in the checkpoint."""

    def __init__(self, sizes: DitSizes) -> None:
        super().__init__()
        self.estimator = Dit(sizes)


class FlowV3(nn.Module):
    """Version 3's flow; ``load_state_dict`` of the official ``flow.pt`` is strict."""

    def __init__(self, sizes: DitSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.input_embedding = nn.Embedding(SPEECH_TOKENS, MEL_BANDS)
        self.spk_embed_affine_layer = nn.Linear(SPEAKER_SIZE, MEL_BANDS)
        self.pre_lookahead_layer = Lookahead(MEL_BANDS, sizes.lookahead_channels)
        self.decoder = Decoder(sizes)

    @torch.inference_mode()
    def one_pass(
        self,
        prompt: FlowPrompt,
        tokens: Sequence[int],
        *,
        streaming: bool,
        window_blocks: int | None = None,
        prompt_blocks: int = 0,
    ) -> Tensor:
        """The mel of ``tokens`` computed whole: (2 * tokens, 80) float32.

        ``streaming`` puts the block mask on, and ``window_blocks`` narrows it (``mask``).
        """
        given = self._given(prompt, tokens)
        frames = given.shape[1]
        mask = block_mask(frames, window_blocks, prompt_blocks) if streaming else None
        state = noise_at(0, frames).to(given)
        mask = None if mask is None else mask.to(given.device)
        for time, length in zip(*schedule(), strict=True):
            rows = torch.cat([state.expand(2, -1, -1), given], dim=-1)
            slope = self.decoder.estimator(rows, time[None].to(given), mask)
            state = state + length * guided(slope[None])[0]
        return state[FRAMES_PER_TOKEN * len(prompt.tokens) :].float()

    def _given(self, prompt: FlowPrompt, tokens: Sequence[int]) -> Tensor:
        """``(2, T, 240)``: prompt, tokens, speaker; nothing in the second row."""
        weight = self.input_embedding.weight
        ids = torch.tensor([*prompt.tokens, *tokens], device=weight.device)
        embedded = self.pre_lookahead_layer(self.input_embedding(ids)[None], before=0, after=0)[0]
        mu = embedded.repeat_interleave(FRAMES_PER_TOKEN, dim=0)
        mel = torch.zeros_like(mu)
        mel[: prompt.mel.shape[0]] = prompt.mel
        speaker = self.spk_embed_affine_layer(F.normalize(prompt.embedding.to(weight), dim=0))
        row = torch.cat([mel, mu, speaker.expand_as(mu)], dim=-1)
        return torch.stack([row, torch.zeros_like(row)])
