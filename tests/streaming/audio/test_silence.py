import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.audio.silence import Offset, Onset
from tests.streaming.audio.sounds import speech_like

LEAD = 480


def samples(signal):
    return np.rint(np.asarray(signal) * 32767).astype(np.int16)


def noise(count, amplitude):
    return np.random.default_rng(3).uniform(-amplitude, amplitude, count)


def after_onset(signal, sizes=(10_000,)):
    onset, at, kept = Onset(LEAD), 0, []
    while at < len(signal):
        size = sizes[len(kept) % len(sizes)]
        kept.append(onset.push(signal[at : at + size]))
        at += size
    return np.concatenate(kept), onset


def silence_behind(signal, noise_peak=0):
    offset = Offset(noise_peak)
    offset.push(signal)
    return offset.silent_samples


class TestOnset:
    @pytest.mark.parametrize("lead_ms", [0, 10, 20, 21, 240, 320, 3_000])
    def test_leading_silence_is_kept_up_to_20_ms(self, lead_ms):
        signal = samples([*noise(24 * lead_ms, 0.0009), *np.full(2_400, 0.3)])

        kept, _ = after_onset(signal)

        assert len(kept) == 2_400 + min(24 * lead_ms, LEAD)

    def test_a_noisy_start_is_silence_too(self):
        signal = samples([*noise(7_200, 0.0014), *np.full(2_400, 0.3)])

        kept, _ = after_onset(signal)

        assert len(kept) == 2_400 + LEAD

    def test_a_quiet_voice_is_not_eaten(self):
        voice = speech_like(24_000)
        quiet = voice / np.abs(voice).max() * 10 ** (-48 / 20)
        signal = samples([*noise(7_200, 10 ** (-70 / 20)), *quiet])

        kept, _ = after_onset(signal)

        first_above_half = int(np.argmax(np.abs(quiet) > 0.5 * np.abs(quiet).max()))
        assert len(kept) > 24_000 - first_above_half + 240

    def test_the_first_audible_sample_leaves_with_its_push(self):
        onset = Onset(LEAD)
        onset.push(samples(np.zeros(5_000)))

        assert len(onset.push(samples([0.3]))) == LEAD + 1

    def test_what_follows_is_untouched(self):
        onset = Onset(LEAD)
        onset.push(samples([0.3]))
        silent = samples(np.zeros(5_000))

        assert onset.push(silent) is silent

    def test_silence_alone_never_begins(self):
        kept, onset = after_onset(samples(noise(24_000, 0.0009)), [100])

        assert len(kept) == 0
        assert not onset.found

    @settings(deadline=None)
    @given(
        st.lists(st.integers(1, 400), min_size=1, max_size=6),
        st.integers(0, 900),
        st.sampled_from([0.0, 0.0004, 0.0014, 0.0028, 0.0032, 0.01]),
    )
    def test_the_cuts_do_not_matter(self, sizes, lead, level):
        signal = samples([*noise(lead, level), *(0.003 * np.sin(np.arange(900) / 40))])

        whole, one = after_onset(signal)
        pieces, many = after_onset(signal, sizes)

        assert np.array_equal(whole, pieces)
        if one.found:
            assert one.noise == many.noise


class TestOffset:
    def test_silence_is_counted_from_the_last_audible_sample(self):
        assert silence_behind(samples([*np.full(100, 0.3), *np.zeros(50)])) == 50
        assert silence_behind(samples([0.3, 0, 0, 0.3])) == 0

    def test_it_adds_up_over_pieces(self):
        offset = Offset(0)
        for piece in ([0.3], [0.0] * 10, [], [0.0] * 5):
            offset.push(samples(piece))

        assert offset.silent_samples == 15

    def test_the_end_of_speech_is_where_it_is_40_db_below_its_peak(self):
        for peak in (0.9, 0.3, 0.1):
            faint, fainter = 0.012 * peak, 0.008 * peak
            signal = samples([*np.full(10, peak), *np.full(10, faint), *np.full(10, fainter)])
            assert silence_behind(signal) == 10

    def test_noise_that_was_there_before_speech_is_no_speech(self):
        signal = samples([*np.full(10, 0.1), *np.full(10, 0.0015)])

        assert silence_behind(signal) == 0
        assert silence_behind(signal, noise_peak=40) == 10
