"""Against torch's own transforms."""

import pytest
import torch

from streaming.cosyvoice.vocoder.fourier import LOUDEST_BIN, Fourier

SIZE, HOP = 16, 4


@pytest.fixture
def fourier():
    return Fourier(SIZE, HOP)


def window():
    return torch.hann_window(SIZE, periodic=True)


def official(samples):
    found = torch.stft(samples, SIZE, HOP, SIZE, window=window(), return_complex=True)
    return torch.cat([found.real, found.imag], 1)


def edged(fourier, samples):
    """Mirrored at both ends, as a centred transform does."""
    radius = fourier.radius
    begun = torch.cat([samples[:, 1 : radius + 1].flip(1), samples], 1)
    longer = torch.nn.functional.pad(begun, (0, radius))
    ends = torch.full((len(samples),), begun.shape[1])
    return fourier.mirrored(longer, ends, torch.ones(len(samples), 1, dtype=torch.bool))


def test_analysis_is_torchs(fourier):
    samples = torch.randn(2, 480)
    assert torch.allclose(fourier.analyse(edged(fourier, samples)), official(samples), atol=1e-5)


def test_synthesis_undoes_analysis_with_the_edges_made_up_for(fourier):
    samples = torch.randn(3, 480)
    every, ends = torch.ones(3, 1, dtype=torch.bool), torch.full((3,), fourier.radius + 480)
    wave = fourier.synthesise(fourier.analyse(edged(fourier, samples)))
    whole = fourier.levelled(wave, fourier.radius, ends, every, every)
    assert torch.allclose(whole[:, fourier.radius :][:, :480], samples, atol=1e-5)


def test_only_the_rows_that_begin_or_end_are_levelled(fourier):
    flags = torch.tensor([[True], [False]])
    wave = torch.ones(2, 64)
    found = fourier.levelled(wave, 8, torch.tensor([40, 40]), flags, flags)
    assert float((found[0] != 1.0).sum()) == 2 * HOP - 1
    assert torch.equal(found[1], torch.ones(64))


def test_a_row_that_does_not_end_is_not_mirrored(fourier):
    samples = torch.randn(1, 64)
    found = fourier.mirrored(samples, torch.tensor([40]), torch.tensor([[False]]))
    assert torch.equal(found, samples)


def test_magnitudes_are_limited(fourier):
    loud = torch.full((1, SIZE + 2, 3), 50.0)
    assert float(fourier.polar(loud).abs().max()) <= LOUDEST_BIN
