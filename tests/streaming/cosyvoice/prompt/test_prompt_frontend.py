"""From samples to features, through real ONNX networks of random weights."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from prompt_sounds import RATE, speech, speech_of

from streaming.cosyvoice import tiny_onnx
from streaming.cosyvoice.folder import Layout
from streaming.cosyvoice.folder_errors import MissingFile, NotACheckpoint
from streaming.cosyvoice.onnx_graph import Node, Value, model
from streaming.cosyvoice.prompt.frontend import SILENT_TOKENS, PromptFiles, PromptFrontEnd, fit
from streaming.cosyvoice.prompt.networks import Network, WrongNetwork, fingerprint
from streaming.errors import NoSpeech

GENERATIONS = ("cosyvoice2", "cosyvoice3")


@pytest.fixture
def folder(tmp_path):
    """A checkpoint folder as far as recordings go."""
    return write(tmp_path)


def write(folder, generation="cosyvoice3"):
    rng = np.random.default_rng(0)
    files = Layout(folder, generation)
    files.yaml.write_text("")
    files.speech_tokenizer.write_bytes(tiny_onnx.speech_tokenizer(rng))
    files.campplus.write_bytes(tiny_onnx.campplus(rng))
    return folder


def front_end(folder):
    files = PromptFiles.find(folder)
    return PromptFrontEnd(files.speech_tokenizer, files.campplus, files.generation)


def always(*tokens):
    """A speech tokenizer that hears these, whatever is said."""
    numbers = np.array([tokens], np.int64).reshape(1, len(tokens))
    return model(
        [Value("feats", "float32", (1, 128, "T")), Value("feats_length", "int32", (1,))],
        [Value("indices", "int32", (1, len(tokens)))],
        [Node("Cast", ["numbers"], "indices", {"to": 6})],
        {"numbers": numbers},
    )


class TestFeatures:
    @pytest.mark.parametrize("generation", GENERATIONS)
    @pytest.mark.parametrize("length_s", [1.0, 3.333, 7.0])
    def test_two_frames_a_token(self, tmp_path, generation, length_s):
        made = front_end(write(tmp_path, generation)).features(speech_of(length_s))
        assert len(made.tokens) == int(length_s * 25)
        assert made.mel.shape == (2 * len(made.tokens), 80)
        assert made.embedding.shape == (192,)
        assert all(values.dtype == np.float32 for values in (made.mel, made.embedding))

    def test_are_the_same_each_time(self, folder):
        first, again = (front_end(folder).features(speech()).to_bytes() for _ in range(2))
        assert first == again

    def test_speakers_differ_by_what_is_heard(self, folder):
        listener = front_end(folder)
        one, other = (
            listener.features(part) for part in (speech()[: RATE * 3], speech()[RATE * 3 :])
        )
        assert not np.array_equal(one.embedding, other.embedding)

    def test_a_constant_gain_changes_no_speaker(self, folder):
        """The mean over time is taken away, and a gain is nothing else in a log spectrum."""
        listener = front_end(folder)
        loud, soft = (listener.features(speech() * gain).embedding for gain in (1.0, 0.5))
        assert np.abs(loud - soft).max() < 0.02 * np.abs(loud).max()

    @pytest.mark.parametrize(
        ("tokens", "frames", "left"), [(10, 21, 10), (10, 19, 9), (11, 20, 10), (1, 1, 0)]
    )
    def test_the_longer_of_tokens_and_frames_is_cut(self, tokens, frames, left):
        kept, mel = fit(tuple(range(tokens)), np.arange(frames * 80.0).reshape(frames, 80))
        assert kept == tuple(range(left))
        assert mel.shape == (2 * left, 80)


class TestNoSpeech:
    def test_no_tokens_are_none(self, folder):
        Layout(folder, "cosyvoice3").speech_tokenizer.write_bytes(always())
        with pytest.raises(NoSpeech, match="finds no speech"):
            front_end(folder).features(speech())

    def test_nor_are_silent_ones_alone(self, folder):
        silent = sorted(SILENT_TOKENS)
        Layout(folder, "cosyvoice3").speech_tokenizer.write_bytes(always(*silent, 4000))
        with pytest.raises(NoSpeech, match="silence"):
            front_end(folder).features(speech())

    def test_pauses_between_words_are_no_fault(self, folder):
        Layout(folder, "cosyvoice3").speech_tokenizer.write_bytes(
            always(*SILENT_TOKENS, *[77] * 11)
        )
        assert len(front_end(folder).features(speech()).tokens) == 22


class TestFiles:
    @pytest.mark.parametrize("generation", GENERATIONS)
    def test_are_where_a_checkpoint_has_them(self, tmp_path, generation):
        files, layout = PromptFiles.find(write(tmp_path, generation)), Layout(tmp_path, generation)
        assert files == PromptFiles(generation, layout.speech_tokenizer, layout.campplus)

    def test_no_checkpoint_is_said_to_be_none(self, tmp_path):
        with pytest.raises(NotACheckpoint, match=r"neither cosyvoice3\.yaml nor"):
            PromptFiles.find(tmp_path)

    @pytest.mark.parametrize("name", ["speech_tokenizer_v3.onnx", "campplus.onnx"])
    def test_a_missing_network_is_named(self, folder, name):
        (folder / name).unlink()
        with pytest.raises(MissingFile, match=name):
            PromptFiles.find(folder)


class TestNetworks:
    def test_what_is_no_network_is_named(self, folder):
        (folder / "campplus.onnx").write_bytes(b"version https://git-lfs")
        with pytest.raises(WrongNetwork, match=r"campplus\.onnx"):
            front_end(folder).features(speech())

    def test_one_in_the_place_of_another_is_noticed(self, folder):
        speaker = (folder / "campplus.onnx").read_bytes()
        (folder / "speech_tokenizer_v3.onnx").write_bytes(speaker)
        with pytest.raises(WrongNetwork, match="1 inputs, not 2"):
            front_end(folder).features(speech())

    def test_a_spectrum_it_does_not_take_is_an_error(self, folder):
        with pytest.raises(WrongNetwork, match="fails"):
            Network(folder / "campplus.onnx", 1)(np.zeros((1, 10, 79), np.float32))

    def test_tokens_outside_the_codebook_are_noticed(self, folder):
        Layout(folder, "cosyvoice3").speech_tokenizer.write_bytes(always(3, 6561))
        with pytest.raises(WrongNetwork, match="6561"):
            front_end(folder).features(speech())


class TestFingerprint:
    def test_tells_one_byte_in_a_small_file(self, tmp_path):
        path = tmp_path / "network"
        path.write_bytes(bytes(200_000))
        first = fingerprint("cosyvoice3", path)
        path.write_bytes(bytes(150_000) + b"x" + bytes(49_999))
        assert fingerprint("cosyvoice3", path) != first

    def test_tells_lengths_and_generations(self, tmp_path):
        path = tmp_path / "network"
        prints = set()
        for size in (0, 10, 11):
            path.write_bytes(bytes(size))
            prints |= {fingerprint(generation, path) for generation in GENERATIONS}
        assert len(prints) == 6

    def test_reads_little_of_a_large_file(self, tmp_path):
        path = tmp_path / "network"
        with path.open("wb") as file:
            file.truncate(3 << 30)
        assert fingerprint("cosyvoice3", path) == fingerprint("cosyvoice3", path)


def test_it_works_without_torch():
    code = (
        "import sys, streaming.engine.prompts, streaming.cosyvoice.prompt.spelling;"
        "sys.exit('torch' in sys.modules or 'torchaudio' in sys.modules)"
    )
    root = Path(__file__).parents[4]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
