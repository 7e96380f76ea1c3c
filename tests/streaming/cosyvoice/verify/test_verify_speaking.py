"""Speaking through the engine's loop, over a runner that costs nothing."""

from dataclasses import replace

import numpy as np
import pytest

from streaming.config import EngineSettings
from streaming.cosyvoice.verify import speaking as module
from streaming.cosyvoice.verify.sentences import SENTENCES
from streaming.cosyvoice.verify.speaking import NotSpoken, Speaking, Spoken
from streaming.messages import Audio
from streaming.runners.tone import ToneRunner, length_samples
from streaming.samples import SAMPLE_RATE

SENTENCE = replace(SENTENCES[0], text="A tone of some length.", voice="tone-a")


@pytest.fixture
def speaking():
    settings = EngineSettings(runner="tone", max_ahead_s=float("inf"))
    runner = ToneRunner(settings)
    runner.load()
    return Speaking(runner, settings)


def test_a_sentence_comes_whole_with_what_it_cost(speaking):
    spoken = speaking.say(SENTENCE)
    made_s = length_samples(SENTENCE.text, 1.0) / SAMPLE_RATE
    assert made_s <= spoken.audio_s <= made_s + 0.3
    assert spoken.compute_s > 0
    assert spoken.rtf == pytest.approx(spoken.compute_s / spoken.audio_s)
    assert not spoken.cut_off
    assert np.frombuffer(spoken.pcm, "<i2").any()


def test_one_sentence_after_another_each_gets_its_own(speaking):
    longer = replace(SENTENCE, text=SENTENCE.text * 2)
    lengths = [speaking.say(each).audio_s for each in (SENTENCE, longer, SENTENCE)]
    assert lengths[0] == lengths[2] < lengths[1]


def test_what_does_not_end_is_cut_off(speaking):
    spoken = speaking.say(replace(SENTENCE, text="no end " * 40, longest_s=1.0))
    assert spoken.cut_off
    assert 1.0 <= spoken.audio_s < 2.0
    assert speaking.say(SENTENCE).audio_s > 1.0, "the next one is not held up"


def test_the_first_packet_is_timed_and_the_rest_is_let_go(speaking):
    assert 0 < speaking.first_packet_s(SENTENCE) < 5
    assert not speaking.say(SENTENCE).cut_off


@pytest.mark.parametrize("trial", ["say", "first_packet_s"])
def test_a_step_that_raises_is_told_and_not_waited_for(speaking, trial):
    with pytest.raises(NotSpoken, match="failed on this text"):
        getattr(speaking, trial)(replace(SENTENCE, text="[[raise]] it"))


def test_a_voice_that_is_not_there_is_told(speaking):
    with pytest.raises(NotSpoken, match="nobody"):
        speaking.say(replace(SENTENCE, voice="nobody"))


def test_an_engine_that_does_nothing_is_not_waited_for_for_ever(speaking, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    monkeypatch.setattr(speaking._engine, "turn", lambda: None)
    with pytest.raises(NotSpoken, match="not done"):
        speaking.say(SENTENCE)


def test_a_step_that_hangs_is_told(speaking, monkeypatch):
    def hang():
        raise TimeoutError("a step of 'flow' has not ended in 120 s")

    monkeypatch.setattr(speaking._engine, "turn", hang)
    with pytest.raises(NotSpoken, match="has not ended"):
        speaking.say(SENTENCE)


def test_a_gap_is_what_a_listener_would_have_waited():
    def chunk(at_s, position_s):
        position = round(position_s * SAMPLE_RATE)
        return at_s, Audio(ctx=1, position_samples=position, pcm=b"\0\0")

    in_time = [chunk(5.0, 0.0), chunk(5.01, 0.08), chunk(5.15, 0.16)]
    late = [chunk(5.0, 0.0), chunk(5.2, 0.08), chunk(5.21, 0.16)]
    assert module._gap_s(in_time) == 0
    assert module._gap_s(late) == pytest.approx(0.12)
    assert module._gap_s([]) == 0


def test_nothing_at_all_has_no_factor():
    assert Spoken(b"", 1.0, 0.0, cut_off=False).rtf == float("inf")
