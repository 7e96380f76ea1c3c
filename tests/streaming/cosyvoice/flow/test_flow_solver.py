"""The equation's start, its steps, and guidance."""

from __future__ import annotations

import math

import pytest
import torch

from streaming.cosyvoice.flow.solver import (
    NOISE_FRAMES,
    guided,
    noise_at,
    schedule,
    starting_noise,
)


def test_the_noise_is_drawn_once_and_leaves_the_global_generator_alone():
    before = torch.random.get_rng_state()
    assert starting_noise().shape == (NOISE_FRAMES, 80)
    assert torch.equal(torch.random.get_rng_state(), before)
    expected = torch.randn([1, 80, NOISE_FRAMES], generator=torch.Generator().manual_seed(0))
    assert torch.equal(noise_at(100, 50), expected[0, :, 100:150].T)


def test_a_frame_has_its_noise_wherever_a_hop_begins():
    assert torch.equal(noise_at(30, 20), noise_at(0, 50)[30:])


def test_past_its_end_the_noise_begins_anew():
    assert torch.equal(noise_at(NOISE_FRAMES - 5, 10)[5:], noise_at(0, 5))


def test_ten_steps_lead_from_noise_to_speech_slowly_at_first():
    times, lengths = schedule()
    cosine = [1 - math.cos(math.pi / 2 * k / 10) for k in range(10)]
    assert times.tolist() == pytest.approx(cosine, abs=1e-7)
    assert lengths.sum().item() == pytest.approx(1.0)
    assert (lengths.diff() > 0).all()


def test_guidance_goes_away_from_what_nothing_conditions():
    velocity = torch.tensor([[1.0, 0.0], [0.0, 1.0]])[:, :, None]
    assert guided(velocity)[:, 0].tolist() == pytest.approx([1.7, -0.7])
