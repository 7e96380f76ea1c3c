"""The joiner on the voice that ships with the server: what it does to real onsets and endings."""

import itertools

import numpy as np
import pytest
from hibari import Hibari

from streaming.audio.joiner import SegmentJoiner
from streaming.config import PauseSettings

SENTENCES = [
    "Sure.",
    "She sells sea shells.",
    "Three thin thieves thought.",
    "Have a nice day!",
    "Fifty foxes flee.",
]
AUDIBLE = 0.01
"""-40 dBFS, what a listener takes for speech; the joiner itself looks much lower."""


@pytest.fixture(scope="module")
def clips():
    voice = Hibari()
    return [voice(sentence, seed=1) for sentence in SENTENCES]


def join(clips, ending):
    joiner, out = SegmentJoiner(PauseSettings()), b""
    for clip in clips:
        out += joiner.begin(ending) + joiner.push(clip) + joiner.end()
    out += joiner.finish()
    return np.frombuffer(out, "<i2") / 32767


def longest_silence_ms(sound):
    return float(np.diff(np.flatnonzero(np.abs(sound) > AUDIBLE)).max()) / 24


def test_speech_starts_and_ends_soon_in_every_sentence(clips):
    for clip in clips:
        heard = np.flatnonzero(np.abs(join([clip], "end")) > AUDIBLE)
        assert heard[0] <= 24 * 100
        assert len(join([clip], "end")) - heard[-1] <= 24 * 300


def test_of_what_is_audible_nothing_is_cut(clips):
    for clip in clips:
        heard = np.flatnonzero(np.abs(clip) > AUDIBLE)
        kept = join([clip], "forced")
        assert np.square(kept).sum() == pytest.approx(np.square(clip).sum(), rel=1e-3)
        kept_heard = np.flatnonzero(np.abs(kept) > AUDIBLE)
        assert np.ptp(kept_heard) == pytest.approx(np.ptp(heard), abs=2)


def test_pauses_follow_the_endings(clips):
    forced, clause, sentence, paragraph = (
        [longest_silence_ms(join([a, b], ending)) for a, b in itertools.pairwise(clips)]
        for ending in ("forced", "clause", "sentence", "paragraph")
    )

    assert max(forced) <= 150
    assert max(forced) < min(clause)
    assert max(clause) < min(sentence)
    assert max(sentence) < min(paragraph)
    assert max(paragraph) < 600
