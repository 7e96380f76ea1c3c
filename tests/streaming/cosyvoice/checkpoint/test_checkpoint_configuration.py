"""The configuration of a checkpoint, and what cannot be meant by it."""

from __future__ import annotations

import json

import pytest
from checkpoint_rig import change, put, refusal

from streaming.cosyvoice import tiny
from streaming.cosyvoice.checkpoint import (
    DamagedFile,
    Unsupported,
    load,
)


class TestConfiguration:
    @pytest.mark.parametrize(
        ("old", "new", "what"),
        [
            ("sample_rate: 24000", "sample_rate: 22050", "sample_rate is 22050, and only 24000"),
            ("chunk_size: 25 ", "chunk_size: 15 ", ""),
            ("top_p: 0.8", "top_p: 0.9", "llm/sampling/top_p is 0.9, and only 0.8"),
            ("mix_ratio: [5, 15]", "mix_ratio: [4, 16]", "llm/mix_ratio"),
            ("t_scheduler: 'cosine'", "t_scheduler: 'linear'", "t_scheduler is 'linear'"),
            ("<chunk_size> * <token_mel_ratio>", "<chunk_size>", "static_chunk_size is 25"),
        ],
    )
    def test_what_is_not_implemented_is_refused_with_both_values(self, folder, old, new, what):
        path = folder / "cosyvoice3.yaml"
        change(path, old.rstrip(), new.rstrip())
        assert (what or "chunk_size is 15") in refusal(Unsupported, folder)

    def test_settings_left_out_are_taken_to_agree(self, folder):
        change(folder / "cosyvoice3.yaml", "    mix_ratio: [5, 15]\n", "")
        assert load(folder).sizes == tiny.sizes("cosyvoice3", "tiny")

    @pytest.mark.parametrize(
        ("old", "new", "what"),
        [
            ("dim: 64", "dim: wide", "flow/decoder/estimator/dim is 'wide'"),
            ("dim: 64", "dim: 0", "dim is 0, and should be a whole number above 0"),
            ("dim: 64", "dim: 64.5", "dim is 64.5"),
            ("dim: 64", "dim: true", "dim is True"),
            ("    base_channels: 32\n", "", "hift/base_channels is missing"),
            ("upsample_rates: [8, 5, 3]", "upsample_rates: 8", "a list of whole numbers"),
            ("resblock_dilation_sizes: [[1, 3, 5]", "resblock_dilation_sizes: [[1, 3, x]", "lists"),
        ],
    )
    def test_a_number_that_is_none_is_named(self, folder, old, new, what):
        change(folder / "cosyvoice3.yaml", old, new)
        message = refusal(DamagedFile, folder)
        assert "cosyvoice3.yaml" in message
        assert what in message

    def test_qwens_config_is_read_in_either_spelling(self, folder):
        path = folder / "CosyVoice-BlankEN" / "config.json"
        config = json.loads(path.read_text(encoding="utf-8"))
        config["rope_parameters"] = {"rope_theta": config.pop("rope_theta")}
        put(path, json.dumps(config))
        assert load(folder).sizes.llm.rope_theta == 1e6

    @pytest.mark.parametrize(
        ("edit", "kind", "what"),
        [
            ({"hidden_size": 128}, Unsupported, "llm_input_size in cosyvoice3.yaml is 64"),
            ({"num_attention_heads": 5}, Unsupported, "do not divide evenly"),
            ({"hidden_act": "gelu"}, Unsupported, "only 'silu'"),
            ({"num_hidden_layers": None}, DamagedFile, "num_hidden_layers is missing"),
        ],
    )
    def test_a_body_that_does_not_fit_is_refused(self, folder, edit, kind, what):
        path = folder / "CosyVoice-BlankEN" / "config.json"
        put(path, json.dumps(json.loads(path.read_text(encoding="utf-8")) | edit))
        assert what in refusal(kind, folder)

    @pytest.mark.parametrize("content", ["{", "[]", "\udcff".encode("utf-8", "surrogateescape")])
    def test_a_config_that_is_no_json(self, folder, content):
        put(folder / "CosyVoice-BlankEN" / "config.json", content)
        assert "config.json" in refusal(DamagedFile, folder)
