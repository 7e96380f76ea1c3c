import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.audio import pcm
from streaming.audio.format import AudioFormat
from tests.streaming.audio.sounds import decode

EVERY_SAMPLE = np.arange(-32768, 32768, dtype=np.int16)


def decoded(codec, payload):
    return np.rint(decode(AudioFormat(codec, 8_000, 20), [payload]) * 32768).astype(int)


def test_full_scale_is_clipped_symmetrically_and_does_not_wrap():
    loud = np.array([0.0, 1.0, -1.0, 1.0001, -7.0, np.inf, -np.inf], np.float32)

    assert pcm.from_float(loud).tolist() == [0, 32767, -32767, 32767, -32767, 32767, -32767]


def test_not_a_number_is_silence_and_no_bang():
    assert pcm.from_float(np.array([np.nan, 0.5], np.float32)).tolist() == [0, 16384]


def test_samples_survive_the_way_to_float_and_back():
    samples = EVERY_SAMPLE[1:]

    assert np.array_equal(pcm.from_float(pcm.to_float(samples)), samples)


@settings(deadline=None)
@given(st.lists(st.integers(-32768, 32767)))
def test_samples_survive_the_way_to_bytes_and_back(values):
    samples = np.array(values, np.int16)

    assert np.array_equal(pcm.from_bytes(pcm.to_bytes(samples)), samples)


def test_bytes_are_little_endian_whatever_the_array_was():
    assert pcm.to_bytes(np.array([1, -2], ">i2")) == b"\x01\x00\xfe\xff"


def test_half_a_sample_is_refused():
    with pytest.raises(ValueError, match="3 bytes"):
        pcm.from_bytes(b"abc")


@pytest.mark.parametrize(
    ("codec", "encode"), [("mulaw", pcm.encode_mulaw), ("alaw", pcm.encode_alaw)]
)
class TestTelephoneLaws:
    def test_every_sample_decodes_to_within_half_a_step(self, codec, encode):
        within_range = EVERY_SAMPLE[np.abs(EVERY_SAMPLE.astype(int)) <= 32_124]
        levels = np.unique(decoded(codec, bytes(range(256))))
        got = decoded(codec, encode(within_range))

        at = np.searchsorted(levels, got)
        steps = np.diff(levels, prepend=levels[0], append=levels[-1])
        widest = np.maximum(steps[at], steps[at + 1])

        assert (np.abs(got - within_range) <= widest / 2).all()

    def test_every_code_comes_back(self, codec, encode):
        levels = decoded(codec, bytes(range(256)))

        assert np.array_equal(decoded(codec, encode(levels.astype(np.int16))), levels)

    def test_louder_never_decodes_softer(self, codec, encode):
        assert (np.diff(decoded(codec, encode(EVERY_SAMPLE))) >= 0).all()


def test_silence_is_the_codes_that_the_standard_gives_it():
    assert pcm.encode_mulaw(np.zeros(1, np.int16)) == b"\xff"
    assert pcm.encode_alaw(np.zeros(1, np.int16)) == b"\xd5"


def test_one_byte_a_sample():
    assert len(pcm.encode_mulaw(EVERY_SAMPLE[:160])) == 160
    assert len(pcm.encode_alaw(EVERY_SAMPLE[:160])) == 160
