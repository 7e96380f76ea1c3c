import io
import wave

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.audio.containers import open_container
from streaming.audio.wav import UNKNOWN, wav_file, wav_header
from streaming.errors import InvalidValue
from tests.streaming.audio.sounds import cut, decode_file, pcm16, snr_db, speech_like, tone

NAMES = ["wav", "opus", "mp3"]


def contain(name, data, sizes=(1_920,), **options):
    container = open_container(name, **options)
    try:
        pieces = [container.push(piece) for piece in cut(data, sizes)]
        return b"".join(pieces) + container.finish()
    finally:
        container.close()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("samples", [1, 480, 1_920, 2_560, 24_000, 60_001])
def test_each_decodes_to_the_duration_that_went_in_to_within_80_ms(name, samples):
    sound, rate = decode_file(contain(name, pcm16(tone(samples))))

    assert 0 <= len(sound) / rate - samples / 24_000 < 0.08


@pytest.mark.parametrize("name", NAMES)
def test_each_sounds_like_what_went_in(name):
    sound, rate = decode_file(contain(name, pcm16(tone(24_000)), [1_000, 777, 1_234]))

    lags = range(rate // 10 if name == "mp3" else 1)
    want = tone(rate, rate=rate)[rate // 10 : rate // 2]
    assert max(snr_db(want, sound[rate // 10 + lag :]) for lag in lags) > 20


@pytest.mark.parametrize("name", NAMES)
def test_the_cuts_do_not_matter_to_the_listener(name):
    data = pcm16(speech_like(20_000))

    whole, _ = decode_file(contain(name, data, [20_000]))
    pieces, _ = decode_file(contain(name, data, [1, 500, 3_333]))

    assert np.array_equal(whole, pieces)


@pytest.mark.parametrize("name", NAMES)
def test_bytes_leave_with_the_first_80_ms(name):
    container = open_container(name)

    assert container.push(pcm16(tone(1_920)))
    container.close()


@pytest.mark.parametrize("name", NAMES)
def test_half_a_sample_is_refused(name):
    container = open_container(name)

    with pytest.raises(ValueError, match="3 bytes"):
        container.push(b"abc")
    container.close()


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("wav", "audio/wav"), ("opus", "audio/ogg; codecs=opus"), ("mp3", "audio/mpeg")],
)
def test_each_says_what_it_is(name, media_type):
    container = open_container(name)

    assert container.media_type == media_type
    container.close()
    container.close()


def test_another_name_is_refused_with_those_that_there_are():
    with pytest.raises(InvalidValue, match="format is 'flac'; allowed: wav, opus, mp3"):
        open_container("flac")


def test_a_bitrate_that_opus_has_not_is_refused():
    with pytest.raises(InvalidValue, match="bitrate"):
        open_container("opus", bitrate=1)


class TestWav:
    @settings(deadline=None)
    @given(st.integers(0, 5_000))
    def test_one_of_known_length_is_exact(self, samples):
        with wave.open(io.BytesIO(wav_file(bytes(2 * samples)))) as file:
            assert file.getparams()[:4] == (1, 2, 24_000, samples)
            assert len(file.readframes(samples)) == 2 * samples

    def test_one_of_unknown_length_says_so_as_players_expect(self):
        streamed = contain("wav", bytes(9_600))

        assert streamed == wav_header(None) + bytes(9_600)
        assert streamed[4:8] == streamed[40:44] == UNKNOWN.to_bytes(4, "little")
        assert len(streamed) % 2 == 0

    def test_the_header_comes_once_and_first(self):
        streamed = contain("wav", pcm16(tone(9_600)), [100])

        assert streamed.startswith(b"RIFF")
        assert streamed.count(b"RIFF") == streamed.count(b"data") == 1

    def test_without_audio_there_is_still_a_file(self):
        assert contain("wav", b"") == wav_header(None)

    def test_other_rates_can_be_told(self):
        with wave.open(io.BytesIO(wav_file(bytes(32), 8_000))) as file:
            assert file.getframerate() == 8_000


class TestMp3:
    def test_without_audio_there_is_nothing(self):
        assert contain("mp3", b"") == b""

    def test_nothing_is_printed(self, capfd):
        contain("mp3", pcm16(speech_like(24_000)))

        assert capfd.readouterr() == ("", "")

    def test_after_the_end_nothing_is_taken(self):
        container = open_container("mp3")
        container.finish()

        with pytest.raises(ValueError, match="ended"):
            container.push(b"ab")
