"""What each tensor of a checkpoint measures, by its official name.

The names and shapes are those of the published files: version 3's ``llm.pt``, ``flow.pt`` and
``hift.pt``, version 2's ``llm.pt`` and ``hift.pt`` (its flow is in ``shapes_v2``). They serve to
check what was loaded before a network is built, and to write checkpoints of random numbers.
Knows: names, shapes. Does not know: files, networks, torch.
"""

from __future__ import annotations

import math

from streaming.cosyvoice.checkpoint.naming import Shapes
from streaming.cosyvoice.checkpoint.shapes_v2 import unet
from streaming.cosyvoice.sizes import (
    LOOKAHEAD_TOKENS,
    MEL_BANDS,
    SPEAKER_SIZE,
    SPEECH_TOKENS,
    DitSizes,
    Generation,
    LlmSizes,
    Sizes,
    UnetSizes,
    VocoderSizes,
)

SIGNS = {"cosyvoice2": 3, "cosyvoice3": 200}
"""Rows above the codebook, in the LLM's speech embedding and head."""

_DIT_TIME = 256
_DIT_CONV_GROUPS = 16
_DIT_CONV_WIDTH = 31
_F0_LAYERS = (0, 2, 4, 6, 8)


def networks(sizes: Sizes) -> dict[str, dict[str, tuple[int, ...]]]:
    """The shapes of ``llm``, ``flow`` and ``hift``, the names that their files have too."""
    return {
        "llm": llm(sizes.llm),
        "flow": flow(sizes.flow),
        "hift": vocoder(sizes.vocoder, sizes.generation),
    }


def llm(sizes: LlmSizes) -> dict[str, tuple[int, ...]]:
    """``llm.pt``: Qwen2 under a speech embedding and a head; version 2 embeds two signs apart."""
    shapes = Shapes()
    speech = SPEECH_TOKENS + SIGNS[sizes.generation]
    if sizes.generation == "cosyvoice2":
        shapes["llm_embedding.weight"] = (2, sizes.hidden)
    shapes["llm.model.model.embed_tokens.weight"] = (sizes.vocab, sizes.hidden)
    for layer in range(sizes.layers):
        _qwen_layer(shapes, f"llm.model.model.layers.{layer}", sizes)
    shapes["llm.model.model.norm.weight"] = (sizes.hidden,)
    shapes["llm.model.lm_head.weight"] = (sizes.vocab, sizes.hidden)
    shapes.linear("llm_decoder", sizes.hidden, speech, bias=sizes.generation == "cosyvoice2")
    shapes["speech_embedding.weight"] = (speech, sizes.hidden)
    return dict(shapes)


def _qwen_layer(shapes: Shapes, name: str, sizes: LlmSizes) -> None:
    hidden, key = sizes.hidden, sizes.hidden // sizes.heads * sizes.kv_heads
    shapes.linear(f"{name}.self_attn.q_proj", hidden, hidden)
    shapes.linear(f"{name}.self_attn.k_proj", hidden, key)
    shapes.linear(f"{name}.self_attn.v_proj", hidden, key)
    shapes.linear(f"{name}.self_attn.o_proj", hidden, hidden, bias=False)
    shapes.linear(f"{name}.mlp.gate_proj", hidden, sizes.feed_forward, bias=False)
    shapes.linear(f"{name}.mlp.up_proj", hidden, sizes.feed_forward, bias=False)
    shapes.linear(f"{name}.mlp.down_proj", sizes.feed_forward, hidden, bias=False)
    shapes[f"{name}.input_layernorm.weight"] = (hidden,)
    shapes[f"{name}.post_attention_layernorm.weight"] = (hidden,)


def flow(sizes: DitSizes | UnetSizes) -> dict[str, tuple[int, ...]]:
    """``flow.pt`` of the generation that the sizes belong to."""
    return unet(sizes) if isinstance(sizes, UnetSizes) else dit(sizes)


def dit(sizes: DitSizes) -> dict[str, tuple[int, ...]]:
    """Version 3's ``flow.pt``."""
    shapes = Shapes()
    shapes["input_embedding.weight"] = (SPEECH_TOKENS, MEL_BANDS)
    shapes.linear("spk_embed_affine_layer", SPEAKER_SIZE, MEL_BANDS)
    shapes.lookahead("pre_lookahead_layer", MEL_BANDS, sizes.lookahead_channels, LOOKAHEAD_TOKENS)
    name, dim = "decoder.estimator", sizes.dim
    shapes.linear(f"{name}.time_embed.time_mlp.0", _DIT_TIME, dim)
    shapes.linear(f"{name}.time_embed.time_mlp.2", dim, dim)
    shapes.linear(f"{name}.input_embed.proj", 4 * MEL_BANDS, dim)
    for conv in ("conv1", "conv2"):
        inputs = dim // _DIT_CONV_GROUPS
        shapes.conv(f"{name}.input_embed.conv_pos_embed.{conv}.0", inputs, dim, _DIT_CONV_WIDTH)
    shapes[f"{name}.rotary_embed.inv_freq"] = (sizes.head_dim // 2,)
    for block in range(sizes.depth):
        _dit_block(shapes, f"{name}.transformer_blocks.{block}", sizes)
    shapes.linear(f"{name}.norm_out.linear", dim, 2 * dim)
    shapes.linear(f"{name}.proj_out", dim, MEL_BANDS)
    return dict(shapes)


def _dit_block(shapes: Shapes, name: str, sizes: DitSizes) -> None:
    dim, inner = sizes.dim, sizes.heads * sizes.head_dim
    shapes.linear(f"{name}.attn_norm.linear", dim, 6 * dim)
    for part in ("to_q", "to_k", "to_v"):
        shapes.linear(f"{name}.attn.{part}", dim, inner)
    shapes.linear(f"{name}.attn.to_out.0", inner, dim)
    shapes.linear(f"{name}.ff.ff.0.0", dim, sizes.feed_forward * dim)
    shapes.linear(f"{name}.ff.ff.2", sizes.feed_forward * dim, dim)


def vocoder(sizes: VocoderSizes, generation: Generation) -> dict[str, tuple[int, ...]]:
    """``hift.pt``. Version 3 upsamples by repeating and a convolution, 2 by a transposed one."""
    causal = generation == "cosyvoice3"
    shapes = Shapes()
    spectrum, base = sizes.istft_size + 2, sizes.base_channels
    shapes.linear("m_source.l_linear", sizes.harmonics + 1, 1)
    shapes.normed_conv("conv_pre", MEL_BANDS, base, 5 if causal else 7)
    channels = [base >> level for level in range(len(sizes.upsample_rates) + 1)]
    for level, width in enumerate(sizes.upsample_kernels):
        wide, narrow = channels[level : level + 2]
        shapes.normed_conv(f"ups.{level}", wide, narrow, width, transposed=not causal)
    for level in range(len(sizes.upsample_rates)):
        stride = math.prod(sizes.upsample_rates[level + 1 :])
        width = 2 * stride if stride > 1 else 1
        shapes.conv(f"source_downs.{level}", spectrum, channels[level + 1], width)
    for level, width in enumerate(sizes.source_kernels):
        dilations = len(sizes.source_dilations[level])
        _resblock(shapes, f"source_resblocks.{level}", channels[level + 1], width, dilations)
    kernels = list(zip(sizes.resblock_kernels, sizes.resblock_dilations, strict=True))
    for level in range(len(sizes.upsample_rates)):
        for index, (width, spread) in enumerate(kernels, level * len(kernels)):
            _resblock(shapes, f"resblocks.{index}", channels[level + 1], width, len(spread))
    shapes.normed_conv("conv_post", channels[-1], spectrum, 7)
    _pitch(shapes, sizes.f0_channels, first_width=4 if causal else 3)
    return dict(shapes)


def _resblock(shapes: Shapes, name: str, channels: int, width: int, dilations: int) -> None:
    for row in ("convs1", "convs2"):
        for index in range(dilations):
            shapes.normed_conv(f"{name}.{row}.{index}", channels, channels, width)
    for row in ("activations1", "activations2"):
        for index in range(dilations):
            shapes[f"{name}.{row}.{index}.alpha"] = (channels,)


def _pitch(shapes: Shapes, channels: int, first_width: int) -> None:
    for layer in _F0_LAYERS:
        inputs, width = (MEL_BANDS, first_width) if layer == 0 else (channels, 3)
        shapes.normed_conv(f"f0_predictor.condnet.{layer}", inputs, channels, width)
    shapes.linear("f0_predictor.classifier", channels, 1)
