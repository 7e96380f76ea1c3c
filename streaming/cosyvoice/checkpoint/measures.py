"""The sizes of a checkpoint's networks, out of its yaml and Qwen2's ``config.json``.

What a checkpoint may choose goes into ``Sizes``. What every part here counts on (rates, block
lengths, guidance, the sampler's numbers) is compared with what this implementation does; a
checkpoint that differs is refused with the name and both values rather than spoken wrongly.
Knows: the official names of settings. Does not know: tensors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from streaming.cosyvoice.checkpoint import hyper
from streaming.cosyvoice.checkpoint.settings import Settings
from streaming.cosyvoice.folder import Layout
from streaming.cosyvoice.folder_errors import DamagedFile, Unsupported
from streaming.cosyvoice.sizes import (
    BLOCK_FRAMES,
    BLOCK_TOKENS,
    FRAME_SAMPLES,
    FRAMES_PER_TOKEN,
    GUIDANCE,
    LOOKAHEAD_TOKENS,
    MEL_BANDS,
    SPEAKER_SIZE,
    SPEECH_TOKENS,
    TOKENS_PER_S,
    DitSizes,
    LlmSizes,
    Sizes,
    UnetSizes,
    VocoderSizes,
)

SAMPLE_RATE = FRAME_SAMPLES * FRAMES_PER_TOKEN * TOKENS_PER_S

_FIXED: Mapping[str, Any] = {
    "sample_rate": SAMPLE_RATE,
    "spk_embed_dim": SPEAKER_SIZE,
    "token_frame_rate": TOKENS_PER_S,
    "token_mel_ratio": FRAMES_PER_TOKEN,
    "chunk_size": BLOCK_TOKENS,
    "num_decoding_left_chunks": -1,
    "llm/speech_token_size": SPEECH_TOKENS,
    "llm/mix_ratio": [5, 15],
    "llm/sampling/top_p": 0.8,
    "llm/sampling/top_k": 25,
    "llm/sampling/win_size": 10,
    "llm/sampling/tau_r": 0.1,
    "flow/output_size": MEL_BANDS,
    "flow/vocab_size": SPEECH_TOKENS,
    "flow/pre_lookahead_len": LOOKAHEAD_TOKENS,
    "flow/decoder/cfm_params/content/t_scheduler": "cosine",
    "flow/decoder/cfm_params/content/inference_cfg_rate": GUIDANCE,
    "flow/decoder/estimator/static_chunk_size": BLOCK_FRAMES,
    "flow/decoder/estimator/num_decoding_left_chunks": -1,
    "flow/encoder/static_chunk_size": BLOCK_TOKENS,
    "hift/in_channels": MEL_BANDS,
    "hift/sampling_rate": SAMPLE_RATE,
    "hift/conv_pre_look_right": 4,
    "hift/f0_predictor/in_channels": MEL_BANDS,
}
"""Settings that are one value here; a yaml that leaves one out is taken to agree."""


def read(layout: Layout) -> Sizes:
    """The sizes that the folder's configuration gives.

    Raises:
        DamagedFile: a file cannot be read or lacks a number.
        Unsupported: it asks for what is not implemented here.
    """
    settings = Settings(layout.yaml, hyper.read(layout.yaml))
    settings.refuse_others(_FIXED)
    flow = _dit(settings) if layout.generation == "cosyvoice3" else _unet(settings)
    llm = _llm(layout, expected_hidden=settings.number("llm/llm_input_size"))
    return Sizes(layout.generation, llm, flow, _vocoder(settings))


def _llm(layout: Layout, expected_hidden: int) -> LlmSizes:
    path = layout.qwen_config
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DamagedFile(f"{path} is no JSON: {error}. Download it again") from error
    settings = Settings(path, found if isinstance(found, dict) else {})
    settings.refuse_others({"hidden_act": "silu", "use_sliding_window": False})
    theta = "rope_theta" if settings.get("rope_theta") else "rope_parameters/rope_theta"
    sizes = LlmSizes(
        generation=layout.generation,
        vocab=settings.number("vocab_size"),
        hidden=settings.number("hidden_size"),
        feed_forward=settings.number("intermediate_size"),
        layers=settings.number("num_hidden_layers"),
        heads=settings.number("num_attention_heads"),
        kv_heads=settings.number("num_key_value_heads"),
        rope_theta=settings.number(theta, float),
        rms_eps=settings.number("rms_norm_eps", float),
    )
    if sizes.hidden != expected_hidden:
        raise Unsupported(
            f"{path}: hidden_size is {sizes.hidden}, but llm_input_size in {layout.yaml.name} is "
            f"{expected_hidden}: files of two checkpoints are mixed"
        )
    if sizes.hidden % sizes.heads or sizes.heads % sizes.kv_heads:
        raise Unsupported(
            f"{path}: {sizes.hidden} dimensions, {sizes.heads} heads and {sizes.kv_heads} "
            "key and value heads do not divide evenly"
        )
    return sizes


def _dit(settings: Settings) -> DitSizes:
    name = "flow/decoder/estimator"
    return DitSizes(
        dim=settings.number(f"{name}/dim"),
        depth=settings.number(f"{name}/depth"),
        heads=settings.number(f"{name}/heads"),
        head_dim=settings.number(f"{name}/dim_head"),
        feed_forward=settings.number(f"{name}/ff_mult"),
        lookahead_channels=settings.number("flow/pre_lookahead_layer/channels"),
    )


def _unet(settings: Settings) -> UnetSizes:
    encoder, name = "flow/encoder", "flow/decoder/estimator"
    channels = settings.whole_numbers(f"{name}/channels")
    if len(channels) != 1:
        raise Unsupported(f"{name}/channels is {list(channels)}; one level is implemented here")
    return UnetSizes(
        encoder_dim=settings.number(f"{encoder}/output_size"),
        encoder_heads=settings.number(f"{encoder}/attention_heads"),
        encoder_feed_forward=settings.number(f"{encoder}/linear_units"),
        encoder_blocks=settings.number(f"{encoder}/num_blocks"),
        channels=channels[0],
        blocks=settings.number(f"{name}/n_blocks"),
        middle_blocks=settings.number(f"{name}/num_mid_blocks"),
        heads=settings.number(f"{name}/num_heads"),
        head_dim=settings.number(f"{name}/attention_head_dim"),
    )


def _vocoder(settings: Settings) -> VocoderSizes:
    return VocoderSizes(
        base_channels=settings.number("hift/base_channels"),
        f0_channels=settings.number("hift/f0_predictor/cond_channels"),
        harmonics=settings.number("hift/nb_harmonics"),
        sine_amplitude=settings.number("hift/nsf_alpha", float),
        noise_sigma=settings.number("hift/nsf_sigma", float),
        voiced_hz=settings.number("hift/nsf_voiced_threshold", float),
        upsample_rates=settings.whole_numbers("hift/upsample_rates"),
        upsample_kernels=settings.whole_numbers("hift/upsample_kernel_sizes"),
        istft_size=settings.number("hift/istft_params/n_fft"),
        istft_hop=settings.number("hift/istft_params/hop_len"),
        resblock_kernels=settings.whole_numbers("hift/resblock_kernel_sizes"),
        resblock_dilations=settings.rows("hift/resblock_dilation_sizes"),
        source_kernels=settings.whole_numbers("hift/source_resblock_kernel_sizes"),
        source_dilations=settings.rows("hift/source_resblock_dilation_sizes"),
        slope=settings.number("hift/lrelu_slope", float),
        loudest=settings.number("hift/audio_limit", float),
    )
