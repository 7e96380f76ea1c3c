"""Spectra equal the official ones, and are what their names say."""

from __future__ import annotations

import numpy as np
import pytest
import soxr
from prompt_sounds import RATE, speech

from streaming.cosyvoice.prompt import mel

TOLERANCE = 1e-3


class TestGolden:
    @pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
    def test_prompt_mel(self, golden, generation):
        made = mel.prompt_mel(golden["front.wave24"].numpy(), generation)
        wanted = golden[f"{generation}.front.prompt_mel"].numpy()
        assert made.shape == wanted.shape
        assert np.abs(made - wanted).max() < TOLERANCE

    def test_whisper_log_mel(self, golden):
        made = mel.whisper_log_mel(golden["front.wave16"].numpy())
        wanted = golden["front.whisper_logmel128"].numpy()
        assert made.shape == wanted.shape
        assert np.abs(made - wanted).max() < TOLERANCE

    def test_kaldi_filterbank(self, golden):
        made = mel.kaldi_filterbank(golden["front.wave16"].numpy())
        wanted = golden["front.fbank80"].numpy()
        assert made.shape == wanted.shape
        assert np.abs(made - wanted).max() < TOLERANCE


def tone(hz, rate, length_s=1.0):
    return (0.5 * np.sin(2 * np.pi * hz * np.arange(round(rate * length_s)) / rate)).astype("f4")


class TestShapes:
    @pytest.mark.parametrize("length_s", [1.0, 3.21, 30.0])
    def test_frames_follow_the_length(self, length_s):
        wide = np.resize(speech(), round(RATE * length_s))
        narrow = soxr.resample(wide, RATE, mel.NARROW_RATE)
        assert mel.prompt_mel(wide, "cosyvoice3").shape == (80, int(length_s * 50))
        assert mel.whisper_log_mel(narrow).shape == (128, int(length_s * 100))
        assert mel.kaldi_filterbank(narrow).shape == ((len(narrow) - 400) // 160 + 1, 80)

    def test_all_are_32_bit_floats(self):
        narrow = soxr.resample(speech(), RATE, mel.NARROW_RATE)
        made = (
            mel.prompt_mel(speech(), "cosyvoice2"),
            mel.whisper_log_mel(narrow),
            mel.kaldi_filterbank(narrow),
        )
        assert [spectrum.dtype for spectrum in made] == [np.float32] * 3


class TestFilters:
    @pytest.mark.parametrize(
        ("rate", "window", "bands", "highest_hz"),
        [(16_000, 400, 128, 8000.0), (24_000, 1920, 80, 8000.0), (24_000, 1920, 80, 12_000.0)],
    )
    def test_each_has_the_area_of_one_and_ends_where_the_range_does(
        self, rate, window, bands, highest_hz
    ):
        filters = mel._filters(rate, window, bands, highest_hz)
        bin_hz = rate / window
        assert filters.shape == (bands, window // 2 + 1)
        assert filters.min() == 0
        wide = filters[bands // 2 :]  # narrower ones fall between the bins
        assert (wide.sum(axis=1) * bin_hz) == pytest.approx(np.ones(len(wide)), abs=0.1)
        heard_hz = np.flatnonzero(filters.sum(axis=0)) * bin_hz
        assert highest_hz - 3 * bin_hz < heard_hz[-1] <= highest_hz

    def test_the_scale_is_linear_to_1_khz_and_by_ratios_above(self):
        mels = np.array([0.0, 7.5, 15.0, 42.0])
        assert mel._to_hz(mels) == pytest.approx([0.0, 500.0, 1000.0, 6400.0])
        assert [mel._to_mel(hz) for hz in (0.0, 500.0, 1000.0, 6400.0)] == pytest.approx(mels)


class TestWhatTheySay:
    def test_a_higher_tone_is_in_a_higher_band(self):
        bands = [
            int(mel.prompt_mel(tone(hz, RATE), "cosyvoice3").mean(axis=1).argmax())
            for hz in (100, 300, 1000, 3000, 7000, 11_000)
        ]
        assert bands == sorted(bands)
        assert len(set(bands)) == len(bands)

    def test_version_2_hears_nothing_above_8_khz(self):
        high = tone(10_000, RATE)
        floor = np.log(1e-5)
        assert mel.prompt_mel(high, "cosyvoice2")[:, 5:-5].max() < 0.5 * floor
        assert mel.prompt_mel(high, "cosyvoice3")[:, 5:-5].max() > -1

    def test_whispers_range_is_bounded_below_its_peak(self):
        made = mel.whisper_log_mel(np.concatenate([tone(500, mel.NARROW_RATE), np.zeros(16_000)]))
        assert made.max() - made.min() == pytest.approx(2.0, abs=1e-6)
