"""Against the official code: names and shapes, pitch, source and samples of the golden cases."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import interpolate, pad
from vocoder_streams import streamed

from streaming.cosyvoice.sizes import FRAME_SAMPLES
from streaming.cosyvoice.vocoder import VocoderV2, VocoderV3
from streaming.cosyvoice.vocoder.carried import Carried
from streaming.cosyvoice.vocoder.centred import Centred
from streaming.cosyvoice.vocoder.source import Source
from streaming.cosyvoice.vocoder.stepping import Plan

CLOSE = 1e-4
DRIFT_PER_FRAME = 2e-6
"""Of samples: 1e-4 a second is what the official float32 phase loses."""


class OfficialSum(Source):
    """The phase as the official module sums it: float32, never wrapped, each harmonic's own."""

    def held(self, hz, cycles, noise):
        self.hz = hz
        return super().held(hz, cycles, noise)

    def _sines(self, cycles):
        assert cycles.shape == self.hz.shape
        share = self.hz.float()[..., None] * self.orders.float() / 24_000 % 1
        return torch.sin(share.cumsum(1) * 2 * torch.pi * FRAME_SAMPLES)


class Case:
    """One generation's golden vocoder and its tensors."""

    def __init__(self, generation, kind, golden, sizes, fill):
        self.vocoder = fill(kind(sizes(generation).vocoder)).fuse()
        prefix = f"{generation}.hift."
        self.tensors = {
            key.removeprefix(prefix): value
            for key, value in golden.items()
            if key.startswith(prefix)
        }
        self.mel = self.tensors["mel"][0].T
        self.frames = len(self.mel)
        self.wav = self.tensors["wav"][0]

    def streamed(self, hops):
        """Version 3's samples, with the noise that the official module drew."""
        noise = self.tensors["sine_noise"][0]
        return torch.cat(streamed(self.vocoder, self.mel, hops, noise=noise))


@pytest.fixture(scope="module")
def third(golden, golden_sizes, golden_fill):
    return Case("cosyvoice3", VocoderV3, golden, golden_sizes, golden_fill)


@pytest.fixture(scope="module")
def second(golden, golden_sizes, golden_fill):
    return Case("cosyvoice2", VocoderV2, golden, golden_sizes, golden_fill)


def only_row(frames):
    return Plan.of(torch.tensor([[frames], [1], [1], [0], [1]]))


def distance(one, other):
    assert one.shape == other.shape
    return float((one - other).abs().max())


@pytest.mark.parametrize(
    ("generation", "kind"), [("cosyvoice2", VocoderV2), ("cosyvoice3", VocoderV3)]
)
def test_parameters_have_the_official_names_and_shapes(golden_dir, golden_sizes, generation, kind):
    shapes = json.loads((golden_dir / "state_dict_shapes.json").read_text(encoding="utf-8"))
    state = kind(golden_sizes(generation).vocoder).state_dict()
    assert {name: list(value.shape) for name, value in state.items()} == shapes[
        f"{generation}.hift"
    ]


def test_version_3_hears_the_official_pitch(third):
    ahead = pad(third.mel.T[None], (0, 3))
    hz = third.vocoder.f0_predictor(ahead, Carried(None, third.frames))
    assert distance(hz.float(), third.tensors["f0"]) < CLOSE


def test_version_3_sounds_as_the_official_code_but_for_what_that_loses(third):
    made = third.streamed([third.frames])
    assert distance(made, third.wav) < DRIFT_PER_FRAME * third.frames


def test_version_3_with_the_official_phase_sum_is_the_official_code(third, monkeypatch):
    monkeypatch.setattr(third.vocoder.m_source, "__class__", OfficialSum)
    made = third.streamed([third.frames])
    assert distance(made, third.wav) < CLOSE / 10


def test_the_initial_phases_that_the_official_code_draws_reach_no_sound(third):
    """It adds them to the first sample, and takes a frame's phase from its middle."""
    hz = third.tensors["f0"].repeat_interleave(FRAME_SAMPLES, 1)[:, None]
    share = hz * torch.arange(1, 10)[None, :, None] / 24_000
    begun = share.clone()
    begun[..., 0] += third.tensors["rand_ini"].float()
    assert not torch.equal(begun, share)
    taken = [
        interpolate(samples, scale_factor=1 / FRAME_SAMPLES, mode="linear")
        for samples in (begun, share)
    ]
    assert torch.equal(*taken)


@settings(max_examples=6, deadline=None)
@given(hops=st.lists(st.integers(1, 60), min_size=2, max_size=12))
def test_version_3_streams_what_it_makes_in_one_pass(third, hops):
    assert distance(third.streamed(hops), third.streamed([third.frames])) < CLOSE


def test_version_2_hears_the_official_pitch(second):
    hz = second.vocoder.f0_predictor(second.mel.T[None], Centred(None, second.frames))
    assert distance(hz.float(), second.tensors["f0"]) < CLOSE


def test_version_2_sounds_as_the_official_code_over_its_source(second):
    rows, run = only_row(second.frames), Centred(None, second.frames)
    made = second.vocoder.decode(second.mel[None], second.tensors["source"][:, 0], rows, run)
    assert distance(made[0], second.wav) < CLOSE


def test_version_2_makes_the_official_source_but_for_its_random_noise(second):
    rows, run = only_row(second.frames), Centred(None, second.frames)
    still = torch.zeros(1, second.frames * FRAME_SAMPLES)
    nothing = torch.zeros(1, 2, dtype=torch.float64)
    made, _ = second.vocoder._source(second.mel[None], rows, nothing, run, still)
    noise = made - second.tensors["source"][:, 0]
    source = second.vocoder.m_source
    loud = float(source.l_linear.weight.norm()) * source.sizes.noise_sigma
    assert float(noise.std()) < loud
    assert float(noise.abs().max()) < 6 * loud
    assert float(noise.mean().abs()) < loud / 20
