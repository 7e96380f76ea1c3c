"""The yaml and the Qwen2 ``config.json`` of a checkpoint, written from its sizes.

The yaml has the official structure, tags and references included, as far as it describes the
networks; what is for training alone is left out. Knows: the official names of settings. Does not
know: files.
"""

from __future__ import annotations

import json

from streaming.cosyvoice.sizes import DitSizes, LlmSizes, Sizes, UnetSizes, VocoderSizes

_HEAD = """\
__set_seed1: !apply:torch.manual_seed [1986]
sample_rate: 24000
llm_input_size: {hidden}
llm_output_size: {hidden}
spk_embed_dim: 192
qwen_pretrain_path: ''
token_frame_rate: 25
token_mel_ratio: 2
chunk_size: 25
num_decoding_left_chunks: -1

llm: !new:cosyvoice.llm.llm.{llm_class}
    llm_input_size: !ref <llm_input_size>
    llm_output_size: !ref <llm_output_size>
    speech_token_size: 6561
    mix_ratio: [5, 15]
    llm: !new:cosyvoice.llm.llm.Qwen2Encoder
        pretrain_path: !ref <qwen_pretrain_path>
    sampling: !name:cosyvoice.utils.common.ras_sampling
        top_p: 0.8
        top_k: 25
        win_size: 10
        tau_r: 0.1
"""

_FLOW = """
flow: !new:cosyvoice.flow.flow.{flow_class}
    input_size: {inputs}
    output_size: 80
    spk_embed_dim: !ref <spk_embed_dim>
    vocab_size: 6561
    input_frame_rate: !ref <token_frame_rate>
    token_mel_ratio: !ref <token_mel_ratio>
    pre_lookahead_len: 3
{before}
    decoder: !new:cosyvoice.flow.flow_matching.CausalConditionalCFM
        in_channels: 240
        cfm_params: !new:omegaconf.DictConfig
            content:
                sigma_min: 1e-06
                solver: 'euler'
                t_scheduler: 'cosine'
                inference_cfg_rate: 0.7
{estimator}
            static_chunk_size: !ref <chunk_size> * <token_mel_ratio>
            num_decoding_left_chunks: !ref <num_decoding_left_chunks>
"""

_LOOKAHEAD = """\
    pre_lookahead_layer: !new:cosyvoice.transformer.upsample_encoder.PreLookaheadLayer
        in_channels: 80
        channels: {channels}
        pre_lookahead_len: 3"""

_DIT = """\
        estimator: !new:cosyvoice.flow.DiT.dit.DiT
            dim: {dim}
            depth: {depth}
            heads: {heads}
            dim_head: {head_dim}
            ff_mult: {feed_forward}
            mel_dim: 80
            mu_dim: 80
            spk_dim: 80
            out_channels: 80"""

_ENCODER = """\
    encoder: !new:cosyvoice.transformer.upsample_encoder.UpsampleConformerEncoder
        output_size: {dim}
        attention_heads: {heads}
        linear_units: {feed_forward}
        num_blocks: {blocks}
        input_size: {dim}
        static_chunk_size: !ref <chunk_size>"""

_UNET = """\
        estimator: !new:cosyvoice.flow.decoder.CausalConditionalDecoder
            in_channels: 320
            out_channels: 80
            channels: [{channels}]
            attention_head_dim: {head_dim}
            n_blocks: {blocks}
            num_mid_blocks: {middle}
            num_heads: {heads}
            act_fn: 'gelu'"""

_HIFT = """
hift: !new:cosyvoice.hifigan.generator.{hift_class}
    in_channels: 80
    base_channels: {base}
    nb_harmonics: {harmonics}
    sampling_rate: !ref <sample_rate>
    nsf_alpha: {amplitude}
    nsf_sigma: {sigma}
    nsf_voiced_threshold: {voiced}
    upsample_rates: {rates}
    upsample_kernel_sizes: {kernels}
    istft_params:
        n_fft: {fft}
        hop_len: {hop}
    resblock_kernel_sizes: {res_kernels}
    resblock_dilation_sizes: {res_dilations}
    source_resblock_kernel_sizes: {source_kernels}
    source_resblock_dilation_sizes: {source_dilations}
    lrelu_slope: {slope}
    audio_limit: {loudest}
    f0_predictor: !new:cosyvoice.hifigan.f0_predictor.{f0_class}
        num_class: 1
        in_channels: 80
        cond_channels: {f0}
"""


def yaml(sizes: Sizes) -> str:
    """The text of ``cosyvoice2.yaml`` or ``cosyvoice3.yaml``."""
    causal = sizes.generation == "cosyvoice3"
    head = _HEAD.format(hidden=sizes.llm.hidden, llm_class="CosyVoice3LM" if causal else "Qwen2LM")
    return head + _flow(sizes.flow) + _hift(sizes.vocoder, causal=causal)


def _flow(sizes: DitSizes | UnetSizes) -> str:
    if isinstance(sizes, DitSizes):
        return _FLOW.format(
            flow_class="CausalMaskedDiffWithDiT",
            inputs=80,
            before=_LOOKAHEAD.format(channels=sizes.lookahead_channels),
            estimator=_DIT.format(
                dim=sizes.dim,
                depth=sizes.depth,
                heads=sizes.heads,
                head_dim=sizes.head_dim,
                feed_forward=sizes.feed_forward,
            ),
        )
    return _FLOW.format(
        flow_class="CausalMaskedDiffWithXvec",
        inputs=sizes.encoder_dim,
        before=_ENCODER.format(
            dim=sizes.encoder_dim,
            heads=sizes.encoder_heads,
            feed_forward=sizes.encoder_feed_forward,
            blocks=sizes.encoder_blocks,
        ),
        estimator=_UNET.format(
            channels=sizes.channels,
            head_dim=sizes.head_dim,
            blocks=sizes.blocks,
            middle=sizes.middle_blocks,
            heads=sizes.heads,
        ),
    )


def _hift(sizes: VocoderSizes, *, causal: bool) -> str:
    return _HIFT.format(
        hift_class="CausalHiFTGenerator" if causal else "HiFTGenerator",
        f0_class="CausalConvRNNF0Predictor" if causal else "ConvRNNF0Predictor",
        base=sizes.base_channels,
        harmonics=sizes.harmonics,
        amplitude=sizes.sine_amplitude,
        sigma=sizes.noise_sigma,
        voiced=sizes.voiced_hz,
        rates=list(sizes.upsample_rates),
        kernels=list(sizes.upsample_kernels),
        fft=sizes.istft_size,
        hop=sizes.istft_hop,
        res_kernels=list(sizes.resblock_kernels),
        res_dilations=list(map(list, sizes.resblock_dilations)),
        source_kernels=list(sizes.source_kernels),
        source_dilations=list(map(list, sizes.source_dilations)),
        slope=sizes.slope,
        loudest=sizes.loudest,
        f0=sizes.f0_channels,
    )


def qwen(sizes: LlmSizes) -> str:
    """The text of ``CosyVoice-BlankEN/config.json``."""
    values = {
        "architectures": ["Qwen2ForCausalLM"],
        "hidden_act": "silu",
        "hidden_size": sizes.hidden,
        "intermediate_size": sizes.feed_forward,
        "max_position_embeddings": 32768,
        "model_type": "qwen2",
        "num_attention_heads": sizes.heads,
        "num_hidden_layers": sizes.layers,
        "num_key_value_heads": sizes.kv_heads,
        "rms_norm_eps": sizes.rms_eps,
        "rope_theta": sizes.rope_theta,
        "tie_word_embeddings": True,
        "use_sliding_window": False,
        "vocab_size": sizes.vocab,
    }
    return json.dumps(values, indent=2) + "\n"
