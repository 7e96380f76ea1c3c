import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.audio.resample import Resampler
from tests.streaming.audio.sounds import cut, dbfs, pcm16, snr_db, tone

RATES = [8_000, 16_000, 24_000, 48_000]


def resample(data, out_rate, sizes=(1_920,), in_rate=24_000):
    resampler = Resampler(in_rate, out_rate)
    pieces = [resampler.push(piece) for piece in cut(data, sizes)]
    return np.concatenate([*pieces, resampler.finish()])


def test_equal_rates_pass_through_untouched():
    data = pcm16(tone(1_000))
    resampler = Resampler(24_000, 24_000)

    assert resampler.push(data).tobytes() == data
    assert len(resampler.finish()) == 0


@pytest.mark.parametrize("rate", RATES)
@settings(deadline=None)
@given(samples=st.integers(0, 5_000), size=st.integers(1, 3_000))
def test_the_length_is_exact_whatever_the_cuts(rate, samples, size):
    got = resample(bytes(2 * samples), rate, [size])

    assert len(got) == (2 * samples * rate + 24_000) // 48_000


@pytest.mark.parametrize("rate", RATES)
def test_a_minute_does_not_drift(rate):
    seconds = 60
    got = resample(pcm16(tone(24_000 * seconds)), rate, [1_000, 777, 1_234]) / 32767

    assert len(got) == rate * seconds
    want = tone(rate * seconds, rate=rate)
    assert snr_db(want[-rate : -rate // 10], got[-rate : -rate // 10]) > 50


@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
def test_pieces_equal_the_whole(rate):
    data = pcm16(tone(12_000, 1_000))

    whole = resample(data, rate, [12_000])

    assert np.array_equal(resample(data, rate, [1, 479, 2_000]), whole)


@pytest.mark.parametrize(("rate", "kept_hz"), [(8_000, 3_200), (16_000, 6_400), (48_000, 9_600)])
def test_the_band_is_kept_and_what_cannot_be_heard_is_not_folded_into_it(rate, kept_hz):
    def level(hz):
        got = resample(pcm16(tone(24_000, hz)), rate)[rate // 10 : -rate // 10]
        return dbfs(got / 32767) - dbfs(tone(24_000, hz))

    assert level(kept_hz) > -0.5
    if rate < 24_000:
        assert level(rate * 0.6) < -60


@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
def test_silence_stays_silence(rate):
    assert not resample(bytes(9_600), rate).any()


@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
def test_it_waits_for_less_than_15_ms_of_sound(rate):
    first = Resampler(24_000, rate).push(bytes(2 * 1_920))

    assert len(first) > rate * (80 - 15) // 1000


def test_half_a_sample_is_refused():
    with pytest.raises(ValueError, match="3 bytes"):
        Resampler(24_000, 8_000).push(b"abc")
