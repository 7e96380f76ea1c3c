"""Nothing is decoded that cannot be of use, and flat tops are counted whatever the blocks."""

from __future__ import annotations

import lameenc
import numpy as np
import pytest
import soundfile
from prompt_sounds import RATE, file_of, speech

from streaming.cosyvoice.prompt import container, decoding
from streaming.cosyvoice.prompt.decoding import BLOCK_FRAMES, Tops, decode
from streaming.errors import RecordingTooLong

HOUR_S = 3600


@pytest.fixture
def frames_read(monkeypatch):
    """How many frames each call of the decoder gave."""
    calls = []
    real = soundfile.SoundFile.read

    def read(self, *args, **kwargs):
        block = real(self, *args, **kwargs)
        calls.append(len(block))
        return block

    monkeypatch.setattr(decoding.soundfile.SoundFile, "read", read)
    return calls


def mp3_of(pcm, *, vbr=False):
    encoder = lameenc.Encoder()
    encoder.set_in_sample_rate(RATE)
    encoder.set_channels(1)
    if vbr:
        encoder.set_vbr(4)
    encoder.silence()
    return bytes(encoder.encode(pcm.astype("<i2").tobytes()) + encoder.flush())


class TestBombs:
    def test_a_file_that_says_it_lasts_an_hour_is_not_decoded_at_all(self, frames_read):
        minute = np.zeros(8000 * 60, np.int16)
        flac = soundfile_of_silence(minute, HOUR_S // 60)
        assert len(flac) < 100_000
        with pytest.raises(RecordingTooLong):
            decode(flac, "flac")
        assert sum(frames_read) == 0

    def test_one_that_does_not_say_is_decoded_up_to_the_longest_recording(self, frames_read):
        minutes = mp3_of(np.random.default_rng(0).integers(-999, 999, RATE * 40)) * 6
        assert not container.mp3_tells_length(minutes)
        with pytest.raises(RecordingTooLong):
            decode(minutes, "mp3")
        assert sum(frames_read) <= (decoding.LONGEST_S + decoding.SPARE_S) * RATE + BLOCK_FRAMES

    def test_a_guessed_length_is_not_held_against_a_file(self):
        """Silence first: by the bit rate of its beginning the file lasts minutes."""
        said = (speech() * 32_767).astype(np.int16)
        mp3 = mp3_of(np.concatenate([np.zeros(RATE * 6), said]), vbr=True)
        assert decode(mp3, "mp3").channels.shape[1] / RATE == pytest.approx(13.1, abs=0.2)


def soundfile_of_silence(minute, minutes):
    """A flac of so many minutes of nothing, a few bytes a second."""
    import io  # noqa: PLC0415 - only here

    out = io.BytesIO()
    with soundfile.SoundFile(out, "w", 8000, 1, format="FLAC", subtype="PCM_16") as file:
        for _ in range(minutes):
            file.write(minute)
    return out.getvalue()


class TestTops:
    def torn(self):
        return np.clip(speech() / np.abs(speech()).max() * 4, -1, 1).reshape(-1, 1) * 0.6

    def test_speech_has_none(self):
        tops = Tops(bounded=True)
        tops.push(speech().reshape(-1, 1))
        assert tops.share == 0

    def test_a_tone_has_none(self):
        tops = Tops(bounded=True)
        tops.push((0.9 * np.sin(np.arange(RATE) * 0.03)).astype(np.float32).reshape(-1, 1))
        assert tops.share == 0

    def test_they_are_counted_at_any_level(self):
        for level in (1e-3, 1.0, 3e4):
            tops = Tops(bounded=False)
            tops.push(self.torn() * np.float32(level))
            assert tops.share == pytest.approx(0.045, abs=0.005)

    def test_blocks_hide_next_to_none(self):
        whole, parts = Tops(bounded=True), Tops(bounded=True)
        torn = self.torn()
        whole.push(torn)
        for begin in range(0, len(torn), 1000):
            parts.push(torn[begin : begin + 1000])
        assert parts.share == pytest.approx(whole.share, rel=0.02)

    def test_silence_is_level_but_no_top(self):
        tops = Tops(bounded=True)
        tops.push(np.zeros((RATE, 2), np.float32))
        assert tops.share == 0
        tops.push(speech().reshape(-1, 1))
        assert tops.share == 0

    def test_full_scale_ends_integers_but_not_floats(self):
        loud = np.tile(np.float32([1.0, -1.0, 0.2, 0.1]), 100).reshape(-1, 1)
        shares = {}
        for bounded in (True, False):
            tops = Tops(bounded=bounded)
            tops.push(loud)
            shares[bounded] = tops.share
        assert shares == {True: 0.5, False: 0.0}


def test_channels_stay_apart_and_come_at_24_khz():
    both = np.stack([speech(), np.zeros_like(speech())], 1)
    made = decode(file_of(both, rate=48_000), "wav")
    assert made.rate == 48_000
    assert made.channels.shape == (2, pytest.approx(len(speech()), abs=2))
    assert np.abs(made.channels[1]).max() == 0
    first = made.channels[0][: len(speech())]
    assert np.corrcoef(first, speech()[: len(first)])[0, 1] > 0.99
