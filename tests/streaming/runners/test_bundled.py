"""English and Mandarin together, as the ``embedded`` runner."""

import pytest
from making import segment

pytest.importorskip("rjieba", reason="the Mandarin voice is not there: make setup-mandarin")

from streaming.config import EngineSettings
from streaming.costs import Costs
from streaming.errors import UnknownVoice, UnsupportedLanguage
from streaming.runners import registry
from streaming.runners.base import Later, Made, Work
from streaming.runners.embedded import EmbeddedRunner
from streaming.runners.mandarin import kokoro


def work(text, voice):
    return Work(ctx=1, segment=segment(text), voice=voice, speed=1.0, seed=0)


def test_with_the_extra_both_are_offered():
    ready = registry.create(EngineSettings()).ready(5)
    assert {"heart", "mandarin"} <= {voice.id for voice in ready.voices}
    assert (ready.runner, ready.default_voice, ready.slots) == ("embedded", "heart", 5)


def test_without_the_extra_all_is_as_before(monkeypatch):
    monkeypatch.setattr(kokoro, "missing", lambda: ["pypinyin"])
    assert isinstance(registry.create(EngineSettings()), EmbeddedRunner)


def test_the_default_is_loaded_and_any_other_when_it_is_asked_for():
    runner = registry.create(EngineSettings())
    runner.load()
    assert runner.has_voice("heart")
    assert not runner.has_voice("mandarin")
    runner.load_voice("mandarin")
    (spoken,) = runner.step("speech", [work("Hello.", "heart")])
    assert isinstance(spoken, Made)
    later = runner.step("mandarin", [work("你好。", "mandarin")])
    assert isinstance(later, Later)
    assert isinstance(later.made.result(timeout=60)[0], Made)


def test_mandarin_can_be_the_default():
    runner = registry.create(EngineSettings(default_voice="mandarin"))
    runner.load()
    assert runner.ready(1).default_voice == "mandarin"
    assert runner.has_voice("mandarin")
    assert not runner.has_voice("heart")


def test_a_default_that_is_not_there_is_refused_with_all_that_are():
    with pytest.raises(UnknownVoice, match=r"heart.*mandarin"):
        registry.create(EngineSettings(default_voice="nobody")).load()


def test_an_english_voice_that_meets_chinese_names_the_one_that_can():
    runner = registry.create(EngineSettings())
    runner.load()
    (error,) = runner.step("speech", [work("你好", "heart")])
    assert isinstance(error, UnsupportedLanguage)
    assert "voices that can: mandarin" in error.message


def test_each_voice_has_a_stage_of_its_own_so_that_neither_waits_for_the_other():
    runner = registry.create(EngineSettings())
    english, mandarin = (
        runner.wants(work("你好", voice), Costs())[0] for voice in ("heart", "mandarin")
    )
    assert {english.stage, mandarin.stage} == {stage.name for stage in runner.stages}
    costs = Costs({stage.name: stage.prior for stage in runner.stages})
    assert costs.predict_s(mandarin.stage, mandarin.units) > 0.1
    assert costs.predict_s(english.stage, english.units) < 0.01
