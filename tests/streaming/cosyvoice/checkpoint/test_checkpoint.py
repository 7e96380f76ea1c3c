"""Checkpoints: what is written is loaded, and what shapes it has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from checkpoint_rig import put, refusal, save

from streaming.cosyvoice import tiny
from streaming.cosyvoice.checkpoint import (
    DamagedFile,
    load,
    look,
    shapes,
)
from streaming.cosyvoice.folder import Layout
from streaming.cosyvoice.sizes import Generation, Sizes


class TestLoading:
    @pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
    def test_what_was_written_is_loaded(self, written, generation):
        found = load(written[generation])
        assert found.sizes == tiny.sizes(generation, "tiny")
        expected = shapes.networks(found.sizes)
        for state, name in ((found.llm, "llm"), (found.flow, "flow"), (found.vocoder, "hift")):
            assert {key: tuple(value.shape) for key, value in state.items()} == expected[name]
            assert all(value.dtype == torch.float32 for value in state.values())

    @pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
    def test_the_paths_of_the_other_files_are_those_of_the_generation(self, written, generation):
        found = load(written[generation])
        version = generation[-1]
        assert found.speech_tokenizer.name == f"speech_tokenizer_v{version}.onnx"
        for path in (found.vocab, found.merges, found.campplus, found.speech_tokenizer):
            assert path.is_file()

    def test_half_precision_leaves_what_must_stay_exact(self, written):
        found = load(written["cosyvoice3"], dtype=torch.float16)
        assert found.llm["llm_decoder.weight"].dtype == torch.float16
        assert found.flow["decoder.estimator.proj_out.weight"].dtype == torch.float16
        assert found.flow["decoder.estimator.rotary_embed.inv_freq"].dtype == torch.float32
        assert all(value.dtype == torch.float32 for value in found.vocoder.values())

    def test_weights_go_to_the_device_that_is_asked_for(self, written):
        found = load(written["cosyvoice3"], device="meta")
        assert found.llm["llm_decoder.weight"].is_meta

    def test_looking_reads_sizes_without_weights(self, folder):
        put(folder / "llm.pt", b"PK\x03\x04 not read")
        files, sizes = look(folder)
        assert (files.generation, sizes.llm.hidden) == ("cosyvoice3", 64)

    def test_what_training_adds_is_dropped(self, folder):
        for name, prefix in (("llm", ""), ("hift", "generator.")):
            state = torch.load(folder / f"{name}.pt", weights_only=True)
            trained = {prefix + key: value for key, value in state.items()}
            extra = {"epoch": 3, "step": 1000, "discriminator.mpd.weight": torch.zeros(2)}
            save(folder / f"{name}.pt", trained | extra)
        found = load(folder)
        assert "conv_pre.bias" in found.vocoder
        assert not {"epoch", "step"} & found.llm.keys()

    def test_the_older_spelling_of_weight_norm_is_understood(self, folder):
        state = torch.load(folder / "hift.pt", weights_only=True)
        older = {
            key.replace(".parametrizations.weight.original0", ".weight_g").replace(
                ".parametrizations.weight.original1", ".weight_v"
            ): value
            for key, value in state.items()
        }
        assert "conv_pre.weight_g" in older
        save(folder / "hift.pt", older)
        assert load(folder).vocoder.keys() == state.keys()

    def test_files_in_torchs_older_format_are_read(self, folder):
        state = torch.load(folder / "hift.pt", weights_only=True)
        (folder / "hift.pt").unlink()
        torch.save(state, folder / "hift.pt", _use_new_zipfile_serialization=False)
        assert torch.equal(load(folder).vocoder["conv_pre.bias"], state["conv_pre.bias"])


class TestSpeakers:
    def test_none_without_the_file(self, folder):
        (folder / "spk2info.pt").unlink()
        assert load(folder).speakers == {}

    def test_an_embedding_alone_is_a_speaker(self, written):
        anna = load(written["cosyvoice3"]).speakers["anna"]
        assert anna.embedding.shape == (192,)
        assert (anna.text, anna.speech, anna.mel) == ((), (), None)

    def test_a_saved_prompt_is_one_too(self, folder):
        prompt = {
            "prompt_text": torch.tensor([[5, 151646]], dtype=torch.int32),
            "prompt_text_len": torch.tensor([2], dtype=torch.int32),
            "flow_prompt_speech_token": torch.tensor([[1, 2, 3]], dtype=torch.int32),
            "prompt_speech_feat": torch.ones(1, 6, 80),
            "llm_embedding": torch.zeros(1, 192),
            "flow_embedding": torch.ones(1, 192),
        }
        save(folder / "spk2info.pt", {"ben": prompt})
        ben = load(folder).speakers["ben"]
        assert (ben.text, ben.speech) == ((5, 151646), (1, 2, 3))
        assert ben.mel.shape == (6, 80)
        assert torch.equal(ben.embedding, torch.ones(192))

    def test_a_saved_prompt_is_cut_to_two_frames_a_token(self, folder):
        saved = {
            "embedding": torch.zeros(192),
            "prompt_text": torch.tensor([[5]]),
            "llm_prompt_speech_token": torch.tensor([[1, 2, 3]]),
        }
        of = {"odd": torch.ones(1, 5, 80), "long": torch.ones(1, 9, 80), "none": torch.ones(0, 80)}
        save(folder / "spk2info.pt", {k: {**saved, "prompt_speech_feat": of[k]} for k in of})
        found = load(folder).speakers
        assert [len(found[name].speech) for name in of] == [2, 3, 0]
        assert [len(found[name].mel) for name in of] == [4, 6, 0]

    def test_tokens_without_their_mel_are_no_prompt(self, folder):
        alone = {"embedding": torch.zeros(192), "flow_prompt_speech_token": torch.tensor([1, 2])}
        save(folder / "spk2info.pt", {"ben": alone})
        ben = load(folder).speakers["ben"]
        assert (ben.text, ben.speech, ben.mel) == ((), (), None)

    @pytest.mark.parametrize(
        ("entry", "what"),
        [
            ({"embedding": torch.zeros(1, 256)}, "no embedding of 192"),
            ({}, "no embedding of 192"),
            (7, "is a int"),
            ({"embedding": torch.zeros(192), "prompt_speech_feat": torch.zeros(1, 6, 128)}, "mel"),
        ],
    )
    def test_another_kind_of_entry_is_refused_by_its_name(self, folder, entry, what):
        save(folder / "spk2info.pt", {"ben": entry})
        message = refusal(DamagedFile, folder)
        assert "speaker 'ben'" in message
        assert what in message


class TestShapes:
    """The tables agree with what the official code gives at the golden sizes."""

    @pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
    def test_every_tensor_has_the_official_name_and_shape(
        self, golden_dir: Path, golden_sizes: Callable[[Generation], Sizes], generation: Generation
    ):
        told = json.loads((golden_dir / "state_dict_shapes.json").read_text(encoding="utf-8"))
        for name, found in shapes.networks(golden_sizes(generation)).items():
            expected = {key: tuple(shape) for key, shape in told[f"{generation}.{name}"].items()}
            assert found == expected

    def test_the_published_size_has_half_a_billion_parameters(self):
        sizes = tiny.sizes("cosyvoice3", "full")
        counts = {
            name: sum(torch.Size(shape).numel() for shape in tensors.values())
            for name, tensors in shapes.networks(sizes).items()
        }
        assert counts["llm"] - 151936 * 896 == pytest.approx(506e6, rel=0.01)
        assert counts["flow"] == pytest.approx(330e6, rel=0.02)
        assert counts["hift"] == pytest.approx(21e6, rel=0.05)


def test_a_layout_lists_the_yaml_last(tmp_path):
    """A folder becomes a checkpoint with its yaml, so whoever writes one writes that last."""
    needed = list(Layout(tmp_path, "cosyvoice2").needed())
    assert needed[-1].name == "cosyvoice2.yaml"
    assert len(needed) == 9
