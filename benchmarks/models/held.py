"""(c) What a second of a context holds of memory, and what a voice does.

Counted from the networks' own sizes, as the runner takes it. Knows: keys, values, pages. Does not
know: weights.
"""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.models import voices
from benchmarks.models.stream import page_bytes
from streaming.cosyvoice.flow import cut
from streaming.cosyvoice.flow.base import Network
from streaming.cosyvoice.flow.v2.module import FlowV2
from streaming.cosyvoice.flow.v2.network import NetworkV2
from streaming.cosyvoice.flow.v3.module import FlowV3
from streaming.cosyvoice.flow.v3.network import NetworkV3
from streaming.cosyvoice.sizes import (
    BLOCK_TOKENS,
    FRAMES_PER_TOKEN,
    MEL_BANDS,
    TOKENS_PER_S,
    LlmSizes,
    Sizes,
    UnetSizes,
)

FIRST_HOP_TOKENS = 8
"""As on a GPU, on whatever this is measured."""

PREFIX_TOKENS = 17
"""``You are a helpful assistant.<|endofprompt|>`` and a transcript of three seconds."""


def counted(sizes: Sizes, dtype: torch.dtype) -> dict[str, Any]:
    """Bytes, for networks that are not there."""
    llm = TOKENS_PER_S * position_bytes(sizes.llm, dtype)
    page = page_bytes(_network(sizes, dtype))
    flow = page * TOKENS_PER_S // BLOCK_TOKENS
    return {
        "precision": str(dtype).removeprefix("torch."),
        "context_bytes_per_s": llm + flow,
        "llm_bytes_per_s": llm,
        "flow_bytes_per_s": flow,
        "voice_bytes": _flow_voice_bytes(page) + _llm_voice_bytes(sizes.llm, dtype),
    }


def position_bytes(sizes: LlmSizes, dtype: torch.dtype) -> int:
    """Keys and values of one token."""
    return 2 * sizes.layers * sizes.kv_heads * (sizes.hidden // sizes.heads) * dtype.itemsize


def _network(sizes: Sizes, dtype: torch.dtype) -> Network:
    """The flow, its weights whatever memory held: nothing is computed with them."""
    device = torch.device("cpu")
    with torch.device("meta"):
        flow = FlowV2(sizes.flow) if isinstance(sizes.flow, UnetSizes) else FlowV3(sizes.flow)
    flow.to_empty(device=device)
    if isinstance(flow, FlowV2):
        return NetworkV2(flow, device=device, dtype=dtype)
    return NetworkV3(flow, device=device, dtype=dtype)


def _flow_voice_bytes(page: int) -> int:
    """The prompt's whole blocks; of the rest, which contexts compute, the mel."""
    tokens = cut.prompt_tokens(voices.PROMPT_S * TOKENS_PER_S, first_hop_tokens=FIRST_HOP_TOKENS)
    blocks = cut.whole_blocks(tokens)
    rest_frames = (tokens - blocks * BLOCK_TOKENS) * FRAMES_PER_TOKEN
    return blocks * page + (rest_frames + 1) * MEL_BANDS * torch.float32.itemsize


def _llm_voice_bytes(sizes: LlmSizes, dtype: torch.dtype) -> int:
    """The beginning that does not depend on the text: start, and the transcript's tokens."""
    return (1 + PREFIX_TOKENS) * position_bytes(sizes, dtype)
