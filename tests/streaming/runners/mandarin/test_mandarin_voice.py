# ruff: noqa: RUF001 - full-width marks are meant
"""The Mandarin voice itself, loaded once for all of these."""

import hashlib
from concurrent.futures import Future

import numpy as np
import pytest
from making import segment

pytest.importorskip("rjieba", reason="the Mandarin voice is not there: make setup-mandarin")

from streaming.config import EngineSettings
from streaming.errors import SynthesisFailed, UnsupportedLanguage
from streaming.runners.base import Later, Made, Work
from streaming.runners.mandarin import kokoro, voice
from streaming.runners.mandarin.kokoro import FRAME_SAMPLES, Plan
from streaming.runners.mandarin.pieces import STRETCH_FRAMES
from streaming.runners.mandarin.voice import MANDARIN, MandarinRunner

RATE = 24_000
SENTENCE = "我们明天上午在公司门口见面，好不好？"


@pytest.fixture(scope="module")
def runner():
    made = MandarinRunner(EngineSettings())
    made.load()
    return made


def work(text, *, speed=1.0, index=0, state=None):
    spoken = segment(text, index=index)
    return Work(ctx=1, segment=spoken, voice=MANDARIN.id, speed=speed, seed=0, state=state)


def results(runner, text, *, speed=1.0, index=0):
    """What each step gives, to the end of the segment."""
    made, state = [], None
    while True:
        later = runner.step("mandarin", [work(text, speed=speed, index=index, state=state)])
        assert isinstance(later, Later)
        (result,) = later.made.result(timeout=60)
        made.append(result)
        if not isinstance(result, Made) or result.done:
            return made
        state = result.state


@pytest.fixture(scope="module")
def sentence(runner):
    """What each step makes of it."""
    return results(runner, SENTENCE)


def speech(runner, text, **kwargs):
    return np.concatenate([made.samples for made in results(runner, text, **kwargs)])


class TestSpeech:
    def test_a_sentence_comes_in_stretches_and_its_length_is_known_at_once(self, sentence):
        made = sentence
        assert len(made[0].samples) == STRETCH_FRAMES[0] * FRAME_SAMPLES
        assert {each.expected_samples for each in made} == {sum(len(m.samples) for m in made)}
        assert 3.0 < sum(len(each.samples) for each in made) / RATE < 8.0
        assert 0.1 < np.abs(np.concatenate([each.samples for each in made])).max() < 1.0

    def test_it_begins_to_be_heard_in_the_first_stretch(self, sentence):
        first, *_ = sentence
        assert np.flatnonzero(np.abs(first.samples) > 0.02)[0] / RATE < 0.2

    def test_the_same_text_is_the_same_speech(self, runner):
        assert np.array_equal(speech(runner, "你好。"), speech(runner, "你好。"))

    def test_stretches_join_without_a_step(self, sentence):
        made = sentence
        joined = np.concatenate([each.samples for each in made])
        seams = np.cumsum([len(each.samples) for each in made])[:-1]
        steps = np.abs(np.diff(joined))
        usual = np.quantile(steps, 0.999)
        assert max(steps[seam - 1] for seam in seams) < 2 * usual

    def test_stretches_sound_like_the_whole(self, runner, sentence):
        model = runner._model
        plan = model.plan(voice._phonemes(runner._script, SENTENCE), 1.0)
        whole = model.speak(plan, plan.begin, plan.end)
        apart = np.concatenate([each.samples for each in sentence])
        error = np.square(whole - apart).sum() / np.square(whole).sum()
        assert 10 * np.log10(error) < -10  # dB; what is left is the rounding of eight bits

    def test_speed_is_honoured(self, runner):
        first = [runner.step("mandarin", [work(SENTENCE, speed=speed)]) for speed in (0.5, 2.0)]
        slow, fast = (each.made.result(timeout=60)[0].expected_samples for each in first)
        assert 2.5 < slow / fast < 5.0

    def test_a_long_segment_is_several_clauses(self, runner):
        clauses = runner._clauses(segment("这句话很长，" * 25))
        assert len(clauses) > 2
        first = runner.step("mandarin", [work("这句话很长，" * 25)])
        assert first.made.result(timeout=60)[0].expected_samples is None

    @pytest.mark.parametrize("text", ["好", "嗯。", "A", "e", "GPU和CPU"])
    def test_the_shortest_is_heard(self, runner, text):
        assert len(speech(runner, text)) / RATE > 0.25

    @pytest.mark.parametrize(("char", "count"), [("3", 200), ("七", 100), ("哈", 60)])
    def test_a_row_of_one_character_is_all_there(self, runner, char, count):
        clauses = runner._clauses(segment(char * count))
        plans = [runner._model.plan(phonemes, 1.0) for phonemes in clauses]
        assert sum(plan.samples for plan in plans) / RATE > 0.12 * count


class TestRefusals:
    @pytest.mark.parametrize("text", ["", "，。！", "——"])
    def test_nothing_to_say_is_an_error_and_never_silence(self, runner, text):
        (error,) = results(runner, text)
        assert isinstance(error, SynthesisFailed)

    def test_another_script_is_refused(self, runner):
        (error,) = results(runner, "こんにちは")
        assert isinstance(error, UnsupportedLanguage)
        assert "mandarin" in error.message

    def test_a_character_without_a_reading_is_no_more_readable_the_next_time(self, runner):
        (error,) = results(runner, "㗎")
        assert isinstance(error, UnsupportedLanguage)
        assert not error.retryable

    @pytest.mark.parametrize("noise", [np.nan, 9.0])
    def test_noise_is_an_error(self, runner, monkeypatch, noise):
        samples = np.full(14_400, noise, np.float32)
        monkeypatch.setattr(runner._model, "speak", lambda *_: samples)
        (error,) = results(runner, "你好")
        assert isinstance(error, SynthesisFailed)

    @pytest.mark.parametrize("frames", [0, 40_000])
    def test_a_plan_of_no_length_or_without_end_is_an_error(self, runner, monkeypatch, frames):
        nothing = np.zeros((1, 1, 1), np.float32)
        plan = Plan(nothing, nothing, nothing, 0, frames)
        monkeypatch.setattr(runner._model, "plan", lambda *_: plan)
        (error,) = results(runner, "你好")
        assert isinstance(error, SynthesisFailed)

    def test_what_raises_is_told_by_the_step(self, runner, monkeypatch):
        monkeypatch.setattr(runner._model, "plan", lambda *_: 1 / 0)
        later = runner.step("mandarin", [work("你好")])
        assert isinstance(later.made, Future)
        assert isinstance(later.made.exception(timeout=10), ZeroDivisionError)

    def test_phonemes_that_the_model_lacks_are_an_error(self, runner):
        with pytest.raises(SynthesisFailed, match="none of"):
            runner._model.plan("n🙂", 1.0)
        with pytest.raises(SynthesisFailed, match="it takes 1 to"):
            runner._model.plan("a" * 600, 1.0)


class TestLoading:
    def test_the_voice_is_a_preview_and_takes_english_too(self, runner):
        ready = runner.ready(3)
        assert ready.voices == (MANDARIN,)
        assert MANDARIN.preview
        assert MANDARIN.languages == ("zh", "en")
        assert ready.options == ("speed",)

    def test_no_other_voice_can_be_loaded(self):
        with pytest.raises(KeyError):
            MandarinRunner(EngineSettings()).load_voice("heart")

    def test_a_file_that_was_not_vetted_is_refused(self, monkeypatch):
        monkeypatch.setattr(kokoro, "VOCABULARY_SHA256", hashlib.sha256(b"").hexdigest())
        with pytest.raises(ValueError, match=r"vocab\.json .* is not the file that was vetted"):
            MandarinRunner(EngineSettings()).load()

    def test_what_is_missing_is_named(self, monkeypatch):
        assert kokoro.missing() == []
        monkeypatch.setattr(kokoro, "_READING", ("pypinyin", "no_such_package"))
        assert kokoro.missing() == ["no_such_package"]
