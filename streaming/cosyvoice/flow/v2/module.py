"""Version 2's flow as the checkpoint names it, and its plain computation, whole.

Source of the structure: the official ``flow.pt`` and the network it belongs to. Knows: parameters
and one pass over everything. Does not know: streaming; ``network`` makes these modules ready for
it, and must come to the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.mask import block_mask
from streaming.cosyvoice.flow.solver import guided, noise_at, schedule
from streaming.cosyvoice.flow.v2.conformer import UP_CONTEXT_TOKENS, Conformer
from streaming.cosyvoice.flow.v2.relative import Distances, Span
from streaming.cosyvoice.flow.v2.unet import CONTEXT_FRAMES, Unet
from streaming.cosyvoice.sizes import (
    BLOCK_TOKENS,
    FRAMES_PER_TOKEN,
    MEL_BANDS,
    SPEAKER_SIZE,
    SPEECH_TOKENS,
    UnetSizes,
)


class Decoder(nn.Module):
    """Only a name in the checkpoint."""

    def __init__(self, sizes: UnetSizes) -> None:
        super().__init__()
        self.estimator = Unet(sizes)


class FlowV2(nn.Module):
    """Version 2's flow; ``load_state_dict`` of the official ``flow.pt`` is strict."""

    def __init__(self, sizes: UnetSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.input_embedding = nn.Embedding(SPEECH_TOKENS, sizes.encoder_dim)
        self.spk_embed_affine_layer = nn.Linear(SPEAKER_SIZE, MEL_BANDS)
        self.encoder = Conformer(sizes)
        self.encoder_proj = nn.Linear(sizes.encoder_dim, MEL_BANDS)
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
        count = len(prompt.tokens) + len(tokens)
        device = self.encoder_proj.weight.device
        masks: list[Tensor | None] = [None, None]
        if streaming:
            masks = [
                block_mask(count * rate, window_blocks, prompt_blocks, BLOCK_TOKENS * rate).to(
                    device
                )
                for rate in (1, FRAMES_PER_TOKEN)
            ]
        given = self._given(prompt, tokens, masks)
        state = noise_at(0, count * FRAMES_PER_TOKEN).to(given)
        unet, whole = self.decoder.estimator, _NoPast(masks[1])
        for time, length in zip(*schedule(), strict=True):
            rows = torch.cat([state.expand(2, -1, -1), given], dim=-1)
            shifts = unet.shifts(time[None].to(given)).expand(2, -1, -1)
            state = state + length * guided(unet(rows, shifts, whole)[None])[0]
        return state[FRAMES_PER_TOKEN * len(prompt.tokens) :]

    def _given(
        self, prompt: FlowPrompt, tokens: Sequence[int], masks: Sequence[Tensor | None]
    ) -> Tensor:
        """``(2, T, 240)``: tokens, speaker, prompt; nothing in the second row."""
        weight = self.encoder_proj.weight
        ids = torch.tensor([*prompt.tokens, *tokens], device=weight.device)
        mu = self._encoded(self.input_embedding(ids), masks)
        mel = torch.zeros_like(mu)
        mel[: prompt.mel.shape[0]] = prompt.mel
        speaker = self.spk_embed_affine_layer(F.normalize(prompt.embedding.to(weight), dim=0))
        row = torch.cat([mu, speaker.expand_as(mu), mel], dim=-1)
        return torch.stack([row, torch.zeros_like(row)])

    def _encoded(self, embedded: Tensor, masks: Sequence[Tensor | None]) -> Tensor:
        """(T, encoder_dim) to (2 * T, 80)."""
        distances = Distances()
        slow, fast = (
            _NothingEarlier([Span(0, embedded.shape[0] * rate)], None if mask is None else ~mask)
            for rate, mask in zip((1, FRAMES_PER_TOKEN), masks, strict=True)
        )
        tokens = self.encoder.tokens(embedded, slow, distances, before=0, after=0)
        tokens = F.pad(tokens, (0, 0, UP_CONTEXT_TOKENS, 0))
        encoded: Tensor = self.encoder_proj(self.encoder.frames(tokens, fast, distances))
        return encoded


@dataclass(frozen=True)
class _NothingEarlier:
    """The whole is one run."""

    spans: Sequence[Span]
    hidden: Tensor | None
    start: int = 0

    def join(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ARG002 - all layers alike
        return key, value


@dataclass(frozen=True)
class _NoPast:
    """All frames at once: before them is nothing, among them ``mask`` (T, T) says what is seen."""

    mask: Tensor | None

    def extend(self, offset: int, x: Tensor) -> Tensor:  # noqa: ARG002 - all layers alike
        return F.pad(x, (0, 0, CONTEXT_FRAMES, 0))

    def attend(self, layer: int, qkv: Tensor) -> Tensor:  # noqa: ARG002 - all layers alike
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(query, key, value, self.mask).transpose(1, 2)
