"""A random checkpoint loads into the real networks and makes noise."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from streaming.cosyvoice import checkpoint, tiny, tiny_onnx, vocoder
from streaming.cosyvoice.checkpoint import Checkpoint
from streaming.cosyvoice.flow.v2.module import FlowV2
from streaming.cosyvoice.flow.v3.module import FlowV3
from streaming.cosyvoice.folder import GENERATIONS
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.sizes import Generation, Sizes
from streaming.cosyvoice.tokenizer import TextTokenizer

GENERATION = pytest.mark.parametrize("generation", GENERATIONS)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Generation], Checkpoint]:
    folder = tmp_path_factory.mktemp("tiny")
    made: dict[Generation, Checkpoint] = {}

    def load(generation: Generation) -> Checkpoint:
        if generation not in made:
            written = tiny.write(folder / generation, generation)
            made[generation] = checkpoint.load(written.folder)
        return made[generation]

    return load


@pytest.fixture(scope="module")
def tokenizer() -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(tiny_onnx.speech_tokenizer(np.random.default_rng(0)))


@pytest.fixture(scope="module")
def campplus() -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(tiny_onnx.campplus(np.random.default_rng(0)))


class TestNetworks:
    @GENERATION
    def test_the_weights_fit_the_networks_exactly(self, loaded, generation):
        found = loaded(generation)
        flow = FlowV3 if generation == "cosyvoice3" else FlowV2
        SpeechLlm(found.sizes.llm).load_state_dict(found.llm, strict=True)
        flow(found.sizes.flow).load_state_dict(found.flow, strict=True)
        vocoder.of(generation, found.sizes.vocoder).load_state_dict(found.vocoder, strict=True)

    @GENERATION
    @pytest.mark.parametrize("size", ["tiny", "bench", "full"])
    def test_every_size_on_offer_is_what_the_networks_build(self, generation, size):
        sizes = tiny.sizes(generation, size)
        flow = FlowV3 if generation == "cosyvoice3" else FlowV2
        with torch.device("meta"):
            built = {
                "llm": SpeechLlm(sizes.llm),
                "flow": flow(sizes.flow),
                "hift": vocoder.of(generation, sizes.vocoder),
            }
        for name, shapes in checkpoint.shapes.networks(sizes).items():
            state = built[name].state_dict()
            assert {key: tuple(value.shape) for key, value in state.items()} == shapes

    @GENERATION
    def test_the_vocoder_makes_a_voiced_noise_of_a_mel(self, loaded, generation):
        found = loaded(generation)
        sound = vocoder.of(generation, found.sizes.vocoder)
        sound.load_state_dict(found.vocoder, strict=True)
        sound.eval().fuse()
        mel = torch.randn(60, 80, generator=torch.Generator().manual_seed(0)) * 2 - 4
        with torch.inference_mode():
            [(samples, _)] = sound.step([(sound.begin(), mel, True)])
        assert samples.shape == (60 * 480,)
        assert 0.001 < samples.square().mean().sqrt() < 0.99


class TestWeights:
    @GENERATION
    def test_they_are_those_of_the_golden_cases(
        self, loaded, golden_dir: Path, golden_sizes: Callable[[Generation], Sizes], generation
    ):
        found = loaded(generation)
        assert found.sizes == golden_sizes(generation)
        spec = importlib.util.spec_from_file_location("rule", golden_dir / "weights.py")
        rule = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(rule)
        tied = {"llm.model.model.embed_tokens.weight": "llm.model.lm_head.weight"}
        for state in (found.llm, found.flow, found.vocoder):
            for name, value in state.items():
                if not name.startswith("f0_predictor.classifier"):
                    source = tied.get(name, name)
                    expected = rule.tensor(source, tuple(value.shape))
                    np.testing.assert_array_equal(value.numpy(), expected)

    def test_half_precision_takes_half_the_disk(self, tmp_path):
        whole = tiny.write(tmp_path / "whole").llm.stat().st_size
        half = tiny.write(tmp_path / "half", dtype=torch.bfloat16).llm.stat().st_size
        assert half == pytest.approx(whole / 2, rel=0.01)
        assert checkpoint.load(tmp_path / "half").llm["llm_decoder.weight"].dtype == torch.bfloat16


class TestText:
    @GENERATION
    def test_any_text_has_ids_that_the_llm_has_rows_for(self, loaded, generation):
        found = loaded(generation)
        tokenizer = TextTokenizer(found.vocab, found.merges, generation)
        ids = tokenizer.encode("You are a helpful assistant.<|endofprompt|>Hello, 你好! [laughter]")
        assert max(ids) < found.sizes.llm.vocab
        assert 151646 in ids


class TestNetworksThatListen:
    """ONNX files with the inputs, outputs and rates of the published ones."""

    @pytest.mark.parametrize(("frames", "tokens"), [(320, 80), (321, 81), (400, 100), (3000, 750)])
    def test_the_speech_tokenizer_gives_25_tokens_a_second(self, tokenizer, frames, tokens):
        ids = self.listen(tokenizer, frames)
        assert ids.shape == (1, tokens)
        assert ids.dtype == np.int32
        assert 0 <= ids.min() <= ids.max() < 6561

    def test_its_tokens_change_with_what_is_heard(self, tokenizer):
        assert len(set(self.listen(tokenizer, 400)[0])) > 50
        assert (self.listen(tokenizer, 400) != self.listen(tokenizer, 400, seed=1)).any()

    def test_it_gives_no_token_beyond_the_length(self, tokenizer):
        whole = self.listen(tokenizer, 400)
        part = self.listen(tokenizer, 400, length=200)
        np.testing.assert_array_equal(part, whole[:, :50])

    def test_the_inputs_have_the_published_order(self, tokenizer, campplus):
        assert [i.name for i in tokenizer.get_inputs()] == ["feats", "feats_length"]
        assert len(campplus.get_inputs()) == 1

    def test_the_speaker_network_gives_one_embedding(self, campplus):
        rng = np.random.default_rng(0)
        voices = []
        for _ in range(2):
            heard = rng.standard_normal((1, 300, 80), dtype=np.float32) * rng.uniform(1, 5, 80)
            heard = (heard - heard.mean(1, keepdims=True)).astype(np.float32)
            voices.append(campplus.run(None, {campplus.get_inputs()[0].name: heard})[0])
        assert voices[0].shape == (1, 192)
        assert np.abs(voices[0] - voices[1]).max() > 0.01

    @staticmethod
    def listen(session, frames, *, seed=0, length=None):
        rng = np.random.default_rng(seed)
        feats = (rng.standard_normal((1, 128, frames)) * 0.4 + 0.3).astype(np.float32)
        names = [given.name for given in session.get_inputs()]
        lengths = np.array([length or frames], dtype=np.int32)
        return session.run(None, dict(zip(names, (feats, lengths), strict=True)))[0]


class TestCommand:
    def test_it_writes_a_checkpoint_and_says_so(self, tmp_path, capsys):
        tiny.main([str(tmp_path / "out"), "--generation", "cosyvoice2", "--speakers", "a", "b"])
        assert list(checkpoint.load(tmp_path / "out").speakers) == ["a", "b"]
        assert "a random cosyvoice2" in capsys.readouterr().out

    def test_a_file_in_the_folders_place_is_told(self, tmp_path, capsys):
        (tmp_path / "out").touch()
        with pytest.raises(SystemExit):
            tiny.main([str(tmp_path / "out")])
        assert "is a file; name a folder" in capsys.readouterr().err
