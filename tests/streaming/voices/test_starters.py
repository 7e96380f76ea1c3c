"""The voices to begin with: listed, decoded by a decoder that is not ours, and understood."""

from __future__ import annotations

import io

import av
import numpy as np
import opencc
import pytest
import soxr
from recognise import RATE, transcribe, word_errors

from streaming.cosyvoice.verify.edits import edits
from streaming.samples import SAMPLE_RATE
from streaming.voices.starters import FOLDER, starters

EXACT = 0.02


def decoded(starter):
    """Mono float samples at 24 kHz."""
    with av.open(io.BytesIO(starter.recording())) as container:
        stream = container.streams.audio[0]
        assert (stream.rate, stream.channels) == (SAMPLE_RATE, 1)
        blocks = [frame.to_ndarray().reshape(-1) for frame in container.decode(stream)]
    return np.concatenate(blocks).astype(np.float32) / 32_768


def test_there_are_an_english_and_a_mandarin_one_and_the_first_is_the_default():
    assert [starter.language for starter in starters()] == ["en", "zh"]
    assert len({starter.id for starter in starters()}) == len(starters())


def test_every_recording_is_listed_and_every_one_listed_is_there():
    listed = {starter.path.name for starter in starters()}
    assert listed == {path.name for path in FOLDER.glob("*.flac")}


def test_all_may_be_used_under_the_projects_licence():
    assert {starter.licence for starter in starters()} == {"Apache-2.0"}


@pytest.mark.parametrize("starter", starters(), ids=lambda starter: starter.id)
def test_they_are_five_to_eight_seconds_at_a_usual_level(starter):
    samples = decoded(starter)
    assert 5 <= len(samples) / SAMPLE_RATE <= 8
    assert 0.3 <= np.abs(samples).max() <= 0.8
    assert starter.path.stat().st_size < 200_000


@pytest.mark.recognise
def test_english_is_heard_as_it_is_written():
    english, _ = starters()
    heard = transcribe(soxr.resample(decoded(english), SAMPLE_RATE, RATE))
    wrong, words = word_errors(english.transcript, heard)
    assert wrong <= EXACT * words, heard


@pytest.mark.recognise
def test_mandarin_is_heard_as_it_is_written():
    _, mandarin = starters()
    samples = soxr.resample(decoded(mandarin), SAMPLE_RATE, RATE)
    heard = opencc.OpenCC("t2s").convert(transcribe(samples, language="zh"))
    said, heard = ("".join(filter(str.isalpha, text)) for text in (mandarin.transcript, heard))
    assert edits(said, heard) <= EXACT * len(said), heard
