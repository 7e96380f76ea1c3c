"""The bundled voice itself, loaded once for all of these."""

import socket

import numpy as np
import pytest
from making import segment

from streaming.config import EngineSettings
from streaming.errors import SynthesisFailed, UnknownVoice, UnsupportedLanguage
from streaming.runners import embedded
from streaming.runners.base import Made, Work
from streaming.runners.embedded import EmbeddedRunner

RATE = 24_000


@pytest.fixture(scope="module")
def runner():
    made = EmbeddedRunner(EngineSettings())
    made.load()
    return made


def work(text, *, seed=0, speed=1.0, index=0, state=None):
    return Work(
        ctx=1,
        segment=segment(text, index=index),
        voice="heart",
        speed=speed,
        seed=seed,
        state=state,
    )


def results(runner, text, **kwargs):
    """What each step gives, to the end of the segment."""
    made, state = [], None
    while True:
        (result,) = runner.step("speech", [work(text, state=state, **kwargs)])
        made.append(result)
        if not isinstance(result, Made) or result.done:
            return made
        state = result.state


def speech(runner, text, **kwargs):
    return np.concatenate([made.samples for made in results(runner, text, **kwargs)])


class TestSpeech:
    def test_a_sentence_is_one_step(self, runner):
        (made,) = results(runner, "Welcome to the stream, everyone.")
        assert 1.5 < len(made.samples) / RATE < 4.0
        assert 0.1 < np.abs(made.samples).max() < 1.0

    def test_the_same_is_the_same_whatever_was_spoken_before(self, runner):
        first = speech(runner, "Hello there.", seed=5)
        speech(runner, "Something else.", seed=9)
        assert np.array_equal(speech(runner, "Hello there.", seed=5), first)

    @pytest.mark.parametrize("other", [{"seed": 6}, {"index": 1}])
    def test_another_seed_or_place_is_another_reading(self, runner, other):
        first = speech(runner, "Hello there.", seed=5, index=0)
        second = speech(runner, "Hello there.", **{"seed": 5, "index": 0, **other})
        assert not np.array_equal(first, second)

    def test_speed_is_honoured(self, runner):
        slow, fast = (
            len(speech(runner, "This takes some time to say.", speed=speed)) for speed in (0.5, 2.0)
        )
        assert 2.5 < slow / fast < 5.0

    @pytest.mark.parametrize(
        "text",
        ["1" * 200, "AAAA BBBB " * 20, "a" * 200, "$" + "9" * 50, "1" * 40 + "th", "%", "½", "x²"],
    )
    def test_what_makes_the_model_stumble_is_spoken(self, runner, text):
        assert len(speech(runner, text)) / RATE > 0.3

    def test_digits_are_all_there(self, runner):
        assert len(speech(runner, "7" * 100)) / len(speech(runner, "7" * 50)) == pytest.approx(
            2, rel=0.2
        )

    def test_a_long_segment_is_spoken_in_steps_without_a_hole(self, runner):
        made = results(runner, "This is a rather long text, which goes on and on, " * 8)
        assert len(made) > 1
        loud = np.flatnonzero(np.abs(np.concatenate([each.samples for each in made])) > 0.01)
        assert np.diff(loud).max() / RATE < 0.6


class TestRefusals:
    @pytest.mark.parametrize("text", ["你好", "Hello, 世界!", "Привет"])
    def test_text_of_another_script_is_refused_and_never_silence(self, runner, text):
        (error,) = results(runner, text)
        assert isinstance(error, UnsupportedLanguage)
        assert "heart" in error.message
        assert "docs/voices.md" in error.message

    def test_words_without_a_sound_are_an_error(self, runner, monkeypatch):
        monkeypatch.setattr(runner._models["heart"]._g2p.lexicon, "__call__", None, raising=False)
        monkeypatch.setattr(embedded, "prepare_segment", lambda *_, **__: "*")
        (error,) = results(runner, "words")
        assert isinstance(error, SynthesisFailed)

    @pytest.mark.parametrize(
        "samples",
        [np.zeros(10), np.zeros(100 * RATE), np.full(RATE, np.nan), np.full(RATE, 9.0)],
        ids=["too short", "too long", "no numbers", "too loud"],
    )
    def test_what_is_no_speech_is_an_error(self, runner, monkeypatch, samples):
        model = runner._models["heart"]
        monkeypatch.setattr(model, "from_ids", lambda *_: samples.astype(np.float32))
        (error,) = results(runner, "Hello.")
        assert isinstance(error, SynthesisFailed)


class TestSettings:
    def test_only_voices_on_disk_are_listed(self, monkeypatch, tmp_path):
        monkeypatch.setenv("HIBARI_HOME", str(tmp_path))
        (tmp_path / "bf_emma.int8.onnx").touch()
        ready = EmbeddedRunner(EngineSettings()).ready(1)
        assert [voice.id for voice in ready.voices] == ["heart", "emma"]
        assert {voice.languages for voice in ready.voices} == {("en",)}

    def test_where_downloads_are_allowed_all_are(self):
        ready = EmbeddedRunner(EngineSettings(allow_downloads=True)).ready(1)
        assert {"heart", "emma", "kore", "fable", "fenrir"} <= {each.id for each in ready.voices}

    def test_a_voice_not_on_disk_is_not_fetched_without_leave(self, monkeypatch, tmp_path):
        monkeypatch.setenv("HIBARI_HOME", str(tmp_path))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("the network"))
        with pytest.raises(FileNotFoundError):
            EmbeddedRunner(EngineSettings()).load_voice("emma")

    def test_a_default_voice_that_is_not_there_is_refused(self):
        with pytest.raises(UnknownVoice, match="heart"):
            EmbeddedRunner(EngineSettings(default_voice="nobody")).load()

    @pytest.mark.parametrize("wrong", [{"device": "cuda"}, {"precision": "fp16"}, {"model": "x"}])
    def test_what_it_would_silently_not_do_is_refused(self, wrong):
        with pytest.raises(ValueError, match=next(iter(wrong.values()))):
            EmbeddedRunner(EngineSettings(**wrong))

    def test_it_says_what_it_honours(self, runner):
        ready = runner.ready(3)
        assert (ready.runner, ready.device, ready.slots) == ("embedded", "cpu", 3)
        assert ready.options == ("speed", "seed")
        assert not ready.cloning
