"""Noise by place: the same wherever it is asked for, and as random as noise must be."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.cosyvoice.vocoder import counter

PLACES, LANES = 50_000, 9


def numbers(seed, first=0, count=PLACES, lanes=LANES):
    keys = torch.tensor([counter.key(seed)])
    return counter.uniform(keys, torch.tensor([first]), count, lanes)[0]


@settings(deadline=None)
@given(first=st.integers(0, 2000), count=st.integers(1, 500))
def test_a_number_is_a_function_of_its_place(first, count):
    assert torch.equal(numbers(7, first, count), numbers(7, 0, 2500)[first : first + count])


def test_rows_have_their_own_seeds_and_places():
    keys = torch.tensor([counter.key(1), counter.key(2)])
    both = counter.uniform(keys, torch.tensor([5, 900]), 100, LANES)
    assert torch.equal(both[0], numbers(1, 5, 100))
    assert torch.equal(both[1], numbers(2, 900, 100))


def test_uniform_numbers_fill_their_range_evenly():
    drawn = numbers(3)
    assert 0.0 <= float(drawn.min()) < 1e-3
    assert 1 - 1e-3 < float(drawn.max()) < 1.0
    assert bool(((drawn.mean(0) - 0.5).abs() < 0.01).all())
    assert bool(((drawn.var(0) * 12 - 1).abs() < 0.03).all())


def test_neighbours_lanes_and_seeds_are_strangers():
    drawn = numbers(3) - 0.5
    limit = 6 / PLACES**0.5
    across = drawn.T @ drawn * 12 / PLACES - torch.eye(LANES)
    assert float(across.fill_diagonal_(0.0).abs().max()) < limit
    for lag in (1, 2, 480):
        assert float((drawn[:-lag] * drawn[lag:]).mean(0).abs().max()) * 12 < limit
    assert float((drawn * (numbers(4) - 0.5)).mean(0).abs().max()) * 12 < limit


def test_no_hum_is_in_the_noise():
    spectrum = torch.fft.rfft(numbers(3)[:, 0] - 0.5).abs()
    assert float(spectrum.max()) < 5 * float(spectrum.mean())


def test_gaussian_numbers_have_the_moments_of_a_gaussian():
    drawn = counter.normal(torch.tensor([counter.key(3)]), torch.tensor([0]), 200_000)[0]
    assert abs(float(drawn.mean())) < 0.01
    assert abs(float(drawn.std()) - 1.0) < 0.01
    assert abs(float((drawn**4).mean()) - 3.0) < 0.1


@settings(deadline=None)
@given(st.integers(-(2**70), 2**70))
def test_any_seed_is_a_word(seed):
    assert -(2**31) <= counter.key(seed) < 2**31
