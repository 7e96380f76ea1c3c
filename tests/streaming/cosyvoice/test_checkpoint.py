"""A checkpoint folder loads whole, or the reason names the file, the tensor and what to do."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from streaming.cosyvoice import tiny
from streaming.cosyvoice.checkpoint import (
    CheckpointError,
    DamagedFile,
    MissingFile,
    NotACheckpoint,
    Unsupported,
    WrongGeneration,
    WrongShape,
    WrongTensors,
    load,
    look,
    shapes,
    speakers,
)
from streaming.cosyvoice.folder import Layout
from streaming.cosyvoice.sizes import Generation, Sizes

Edit = Callable[[Path], None]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[Generation, Path]:
    """A random checkpoint of each generation, never changed."""
    folder = tmp_path_factory.mktemp("checkpoints")
    names: tuple[Generation, ...] = ("cosyvoice2", "cosyvoice3")
    return {name: tiny.write(folder / name, name, speakers=["anna"]).folder for name in names}


@pytest.fixture
def folder(written: dict[Generation, Path], tmp_path: Path) -> Path:
    """A copy of version 3's whose files may be replaced: they are hard links."""
    copy = tmp_path / "copy"
    shutil.copytree(written["cosyvoice3"], copy, copy_function=os.link)
    return copy


def put(path: Path, content: bytes | str) -> None:
    """Replace a file without writing into what it is linked to."""
    path.unlink(missing_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    put(path, text.replace(old, new))


def save(path: Path, state: object) -> None:
    path.unlink(missing_ok=True)
    torch.save(state, path)


def refusal(kind: type[CheckpointError], folder: Path) -> str:
    with pytest.raises(kind) as caught:
        load(folder)
    assert type(caught.value) is kind
    return str(caught.value)


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


class TestNotAFolder:
    def test_a_folder_that_is_not_there(self, tmp_path):
        message = refusal(NotACheckpoint, tmp_path / "nowhere")
        assert "does not exist" in message
        assert "streaming.cosyvoice.download" in message

    def test_a_file(self, folder):
        message = refusal(NotACheckpoint, folder / "llm.pt")
        assert f"is a file; a checkpoint is a folder: name {folder}" in message

    def test_a_folder_of_other_things(self, tmp_path):
        message = refusal(NotACheckpoint, tmp_path)
        assert "neither cosyvoice3.yaml nor cosyvoice2.yaml" in message

    def test_the_folder_above_is_told_which_one_is_meant(self, folder):
        assert f"{folder} is: name that folder" in refusal(NotACheckpoint, folder.parent)

    def test_the_first_generation_is_named(self, tmp_path):
        put(tmp_path / "cosyvoice.yaml", "sample_rate: 22050")
        assert "first generation" in refusal(NotACheckpoint, tmp_path)

    def test_two_generations_in_one_folder(self, folder):
        put(folder / "cosyvoice2.yaml", "sample_rate: 24000")
        assert "two checkpoints in one folder" in refusal(NotACheckpoint, folder)

    def test_a_download_that_has_not_ended(self, tmp_path):
        put(tmp_path / "llm.pt.0123.part", b"PK\x03\x04")
        assert "goes on where it was" in refusal(NotACheckpoint, tmp_path)


class TestFiles:
    def test_all_that_is_missing_is_named_at_once(self, folder):
        (folder / "flow.pt").unlink()
        (folder / "CosyVoice-BlankEN" / "merges.txt").unlink()
        message = refusal(MissingFile, folder)
        assert "lacks CosyVoice-BlankEN/merges.txt, flow.pt." in message
        assert "python -m streaming.cosyvoice.download cosyvoice3" in message

    def test_the_speech_tokenizer_of_the_other_generation_does_not_serve(self, folder):
        (folder / "speech_tokenizer_v3.onnx").rename(folder / "speech_tokenizer_v2.onnx")
        assert "looks like a cosyvoice2" in refusal(MissingFile, folder)

    def test_a_missing_file_of_a_download_that_has_not_ended(self, folder):
        (folder / "llm.pt").rename(folder / "llm.pt.0123.part")
        assert "a download here has not ended" in refusal(MissingFile, folder)

    @pytest.mark.parametrize(
        "name", ["llm.pt", "campplus.onnx", "CosyVoice-BlankEN/vocab.json", "spk2info.pt"]
    )
    def test_a_git_lfs_pointer(self, folder, name):
        pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 2000000000\n"
        put(folder / name, pointer)
        message = refusal(DamagedFile, folder)
        assert f"{folder / name} is a Git LFS pointer" in message
        assert "git lfs pull" in message

    def test_a_web_page_in_place_of_the_file(self, folder):
        put(folder / "flow.pt", "\n<!DOCTYPE html><html><title>Sign in</title></html>")
        assert "flow.pt is a web page" in refusal(DamagedFile, folder)

    def test_an_empty_file(self, folder):
        put(folder / "hift.pt", b"")
        assert "hift.pt is empty" in refusal(DamagedFile, folder)

    @pytest.mark.parametrize("kept", [0.999, 0.5, 0.001])
    def test_a_download_that_was_cut_off(self, folder, kept):
        whole = (folder / "hift.pt").read_bytes()
        put(folder / "hift.pt", whole[: int(len(whole) * kept)])
        message = refusal(DamagedFile, folder)
        assert re.search(r"hift\.pt is cut off after [\d,]+ bytes", message)

    @pytest.mark.parametrize("content", [b"hello, this is no such file", b"\x80\x02]q\x00."])
    def test_something_else_under_the_name(self, folder, content):
        put(folder / "hift.pt", content)
        assert "hift.pt" in refusal(DamagedFile, folder)

    def test_a_file_that_would_run_code_is_not_loaded(self, folder, tmp_path):
        marker = tmp_path / "ran"

        class Runs:
            def __reduce__(self):
                return os.mkdir, (str(marker),)

        save(folder / "hift.pt", {"conv_pre.bias": Runs()})
        assert "could run code" in refusal(DamagedFile, folder)
        put(folder / "hift.pt", pickle.dumps(Runs(), protocol=2))
        refusal(DamagedFile, folder)
        assert not marker.exists()

    def test_a_file_with_any_bytes_changed_loads_or_is_refused(self, folder):
        whole, path = (folder / "spk2info.pt").read_bytes(), folder / "spk2info.pt"
        draw = random.Random(0)
        for _ in range(100):
            content = bytearray(whole)
            for place in draw.sample(range(len(content)), 3):
                content[place] = draw.randrange(256)
            put(path, bytes(content))
            with contextlib.suppress(DamagedFile):
                speakers.read(path)

    def test_a_file_that_may_not_be_read(self, folder, monkeypatch):
        def opened(path, *arguments, **named):
            if path.name == "hift.pt":
                raise PermissionError(13, "Permission denied")
            return real(path, *arguments, **named)

        real = Path.open
        monkeypatch.setattr(Path, "open", opened)
        assert "hift.pt cannot be read: Permission denied" in refusal(CheckpointError, folder)

    def test_what_is_no_set_of_tensors(self, folder):
        save(folder / "hift.pt", [torch.zeros(2)])
        assert "holds a list" in refusal(DamagedFile, folder)
        save(folder / "hift.pt", {"conv_pre.bias": "text"})
        assert "conv_pre.bias is a str" in refusal(DamagedFile, folder)


class TestTensors:
    @pytest.mark.parametrize("name", ["llm.pt", "flow.pt", "hift.pt"])
    @pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
    def test_weights_of_the_other_generation(self, written, tmp_path, generation, name):
        other = {"cosyvoice2": "cosyvoice3", "cosyvoice3": "cosyvoice2"}[generation]
        copy = tmp_path / "copy"
        shutil.copytree(written[generation], copy, copy_function=os.link)
        (copy / name).unlink()
        os.link(written[other] / name, copy / name)
        message = refusal(WrongGeneration, copy)
        assert f"{name} is of {other}, but {generation}.yaml" in message

    def test_a_wrong_shape_names_the_tensor_and_both_shapes(self, folder):
        state = torch.load(folder / "flow.pt", weights_only=True)
        state["spk_embed_affine_layer.weight"] = torch.zeros(80, 256)
        save(folder / "flow.pt", state)
        message = refusal(WrongShape, folder)
        assert "spk_embed_affine_layer.weight measures (80, 256)" in message
        assert "should measure (80, 192)" in message

    def test_a_configuration_of_another_size_is_a_wrong_shape(self, folder):
        change(folder / "cosyvoice3.yaml", "base_channels: 32", "base_channels: 64")
        message = refusal(WrongShape, folder)
        assert "hift.pt: conv_pre.bias measures (32,)" in message
        assert "should measure (64,)" in message

    def test_tensors_that_are_missing_or_unknown_are_named(self, folder):
        state = torch.load(folder / "hift.pt", weights_only=True)
        state["conv_last.bias"] = state.pop("conv_post.bias")
        save(folder / "hift.pt", state)
        message = refusal(WrongTensors, folder)
        assert "it lacks conv_post.bias; it has beside that conv_last.bias" in message

    def test_of_many_the_first_are_named(self, folder):
        change(folder / "cosyvoice3.yaml", "depth: 3", "depth: 5")
        message = refusal(WrongTensors, folder)
        assert "it lacks decoder.estimator.transformer_blocks.3." in message
        assert re.search(r"and \d\d more", message)

    def test_another_network_altogether(self, folder):
        save(folder / "llm.pt", nn.Linear(2, 2).state_dict())
        assert "it has beside that weight, bias" in refusal(WrongTensors, folder)


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
