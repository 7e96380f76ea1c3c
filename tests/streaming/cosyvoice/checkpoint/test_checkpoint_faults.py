"""Folders, files and tensors that are none: told with what to do."""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import re
import shutil
from pathlib import Path

import pytest
import torch
from checkpoint_rig import change, put, refusal, save
from torch import nn

from streaming.cosyvoice.checkpoint import (
    CheckpointError,
    DamagedFile,
    MissingFile,
    NotACheckpoint,
    WrongGeneration,
    WrongShape,
    WrongTensors,
    speakers,
)


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
