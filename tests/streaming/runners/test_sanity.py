"""What cannot be speech is refused."""

import numpy as np
import pytest

from streaming.errors import SynthesisFailed
from streaming.runners.base import Work
from streaming.runners.sanity import require_length, require_speech
from streaming.samples import SAMPLE_RATE
from streaming.segment import Segment


def work(speed=1.0):
    text = "Well."
    segment = Segment(
        index=0, text=text, source=text, char_start=0, char_end=len(text), ending="end"
    )
    return Work(ctx=1, segment=segment, voice="heart", speed=speed, seed=0)


@pytest.mark.parametrize("length_s", [0.05, 2.0, 5.0])
def test_what_ten_phonemes_may_take_passes(length_s):
    require_length(work(), round(length_s * SAMPLE_RATE), phonemes=10, phoneme_s=0.3)


@pytest.mark.parametrize("length_s", [0.0, 0.04, 5.1])
def test_too_little_and_too_much_is_refused_with_the_text(length_s):
    with pytest.raises(SynthesisFailed, match=rf"made {length_s:.2f} s of 'Well\.'"):
        require_length(work(), round(length_s * SAMPLE_RATE), phonemes=10, phoneme_s=0.3)


def test_slow_speech_may_take_longer():
    require_length(work(speed=0.5), 7 * SAMPLE_RATE, phonemes=10, phoneme_s=0.3)


@pytest.mark.parametrize("worst", [4.1, -5.0, np.nan, np.inf])
def test_noise_is_refused(worst):
    samples = np.zeros(100, np.float32)
    require_speech(work(), samples)
    samples[50] = worst
    with pytest.raises(SynthesisFailed, match="made noise"):
        require_speech(work(), samples)
