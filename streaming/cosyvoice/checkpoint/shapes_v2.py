"""What each tensor of version 2's flow measures: a Conformer that upsamples, and a U-Net.

Knows: names, shapes. Does not know: files, networks, torch.
"""

from __future__ import annotations

from streaming.cosyvoice.checkpoint.naming import Shapes
from streaming.cosyvoice.sizes import (
    FRAMES_PER_TOKEN,
    LOOKAHEAD_TOKENS,
    MEL_BANDS,
    SPEAKER_SIZE,
    SPEECH_TOKENS,
    UnetSizes,
)

UPSAMPLED_BLOCKS = 4
_UNET_INPUTS = 4 * MEL_BANDS
_TIME_TIMES = 4
_FEED_FORWARD_TIMES = 4
_CONV_WIDTH = 3


def unet(sizes: UnetSizes) -> dict[str, tuple[int, ...]]:
    """Version 2's ``flow.pt``."""
    shapes = Shapes()
    dim = sizes.encoder_dim
    shapes["input_embedding.weight"] = (SPEECH_TOKENS, dim)
    shapes.linear("spk_embed_affine_layer", SPEAKER_SIZE, MEL_BANDS)
    _encoder(shapes, "encoder", sizes)
    shapes.linear("encoder_proj", dim, MEL_BANDS)
    _estimator(shapes, "decoder.estimator", sizes)
    return dict(shapes)


def _encoder(shapes: Shapes, name: str, sizes: UnetSizes) -> None:
    dim = sizes.encoder_dim
    _embedding(shapes, f"{name}.embed", dim)
    shapes.norm(f"{name}.after_norm", dim)
    shapes.lookahead(f"{name}.pre_lookahead_layer", dim, dim, LOOKAHEAD_TOKENS)
    for block in range(sizes.encoder_blocks):
        _conformer_block(shapes, f"{name}.encoders.{block}", sizes)
    shapes.conv(f"{name}.up_layer.conv", dim, dim, 2 * FRAMES_PER_TOKEN + 1)
    _embedding(shapes, f"{name}.up_embed", dim)
    for block in range(UPSAMPLED_BLOCKS):
        _conformer_block(shapes, f"{name}.up_encoders.{block}", sizes)


def _embedding(shapes: Shapes, name: str, dim: int) -> None:
    shapes.linear(f"{name}.out.0", dim, dim)
    shapes.norm(f"{name}.out.1", dim)


def _conformer_block(shapes: Shapes, name: str, sizes: UnetSizes) -> None:
    dim, heads = sizes.encoder_dim, sizes.encoder_heads
    for bias in ("pos_bias_u", "pos_bias_v"):
        shapes[f"{name}.self_attn.{bias}"] = (heads, dim // heads)
    for part in ("q", "k", "v", "out"):
        shapes.linear(f"{name}.self_attn.linear_{part}", dim, dim)
    shapes.linear(f"{name}.self_attn.linear_pos", dim, dim, bias=False)
    shapes.linear(f"{name}.feed_forward.w_1", dim, sizes.encoder_feed_forward)
    shapes.linear(f"{name}.feed_forward.w_2", sizes.encoder_feed_forward, dim)
    shapes.norm(f"{name}.norm_ff", dim)
    shapes.norm(f"{name}.norm_mha", dim)


def _estimator(shapes: Shapes, name: str, sizes: UnetSizes) -> None:
    """One level down, the middle, one level up with the skipped input beside it."""
    channels, time = sizes.channels, _TIME_TIMES * sizes.channels
    shapes.linear(f"{name}.time_mlp.linear_1", _UNET_INPUTS, time)
    shapes.linear(f"{name}.time_mlp.linear_2", time, time)
    _level(shapes, f"{name}.down_blocks.0", _UNET_INPUTS, sizes)
    shapes.conv(f"{name}.down_blocks.0.2", channels, channels, _CONV_WIDTH)
    for block in range(sizes.middle_blocks):
        _level(shapes, f"{name}.mid_blocks.{block}", channels, sizes)
    _level(shapes, f"{name}.up_blocks.0", 2 * channels, sizes)
    shapes.conv(f"{name}.up_blocks.0.2", channels, channels, _CONV_WIDTH)
    _causal_block(shapes, f"{name}.final_block", channels, channels)
    shapes.conv(f"{name}.final_proj", channels, MEL_BANDS, 1)


def _level(shapes: Shapes, name: str, inputs: int, sizes: UnetSizes) -> None:
    """A residual block that takes the time in, then the transformers."""
    channels = sizes.channels
    shapes.linear(f"{name}.0.mlp.1", _TIME_TIMES * channels, channels)
    _causal_block(shapes, f"{name}.0.block1", inputs, channels)
    _causal_block(shapes, f"{name}.0.block2", channels, channels)
    shapes.conv(f"{name}.0.res_conv", inputs, channels, 1)
    for block in range(sizes.blocks):
        _transformer(shapes, f"{name}.1.{block}", channels, sizes.heads * sizes.head_dim)


def _causal_block(shapes: Shapes, name: str, inputs: int, outputs: int) -> None:
    shapes.conv(f"{name}.block.0", inputs, outputs, _CONV_WIDTH)
    shapes.norm(f"{name}.block.2", outputs)


def _transformer(shapes: Shapes, name: str, channels: int, inner: int) -> None:
    shapes.norm(f"{name}.norm1", channels)
    for part in ("to_q", "to_k", "to_v"):
        shapes.linear(f"{name}.attn1.{part}", channels, inner, bias=False)
    shapes.linear(f"{name}.attn1.to_out.0", inner, channels)
    shapes.norm(f"{name}.norm3", channels)
    shapes.linear(f"{name}.ff.net.0.proj", channels, _FEED_FORWARD_TIMES * channels)
    shapes.linear(f"{name}.ff.net.2", _FEED_FORWARD_TIMES * channels, channels)
