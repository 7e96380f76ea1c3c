"""The runner over tiny random networks, stepped by the engine's own loop."""

import gc
import json
import weakref

import numpy as np
import pytest
import torch
from cosyvoice_rig import (
    ENGLISH,
    MANDARIN,
    Rig,
    alone,
    few_tokens,
    load,
    send_voices_away,
    settled,
    store,
)

from streaming.config import CosyVoiceSettings, EngineSettings
from streaming.errors import UnknownVoice
from streaming.messages import Failed, Finished, Released
from streaming.runners.base import Work
from streaming.runners.cosyvoice.runner import CosyVoiceRunner
from streaming.steps import Cost
from streaming.text.normal.normaliser import Normaliser
from streaming.text.pipeline import TextPipeline
from streaming.text.segmenter import Segmenter

TEXTS = (
    "Hello there.",
    "你好。",
    "One.",
    "Some more tokens here.",
    "五六七。",
    "Another seed.",
    "Seven.",
    "好。",
)


def close(one, other):
    """16-bit samples of the same audio, computed in batches of another shape."""
    assert len(one) == len(other)
    assert np.abs(one - other).max() <= 3  # 1e-4 of full scale


@pytest.fixture(scope="module")
def hellos(runner):
    """The same words alone, by their seed."""
    return {seed: alone(runner, "Hello there.", seed=seed) for seed in (1, 2, 3)}


def test_it_speaks_and_leaves_nothing_behind(rig):
    rig.speak(1, "Hello there.", "Again.")
    rig.run(1)
    assert isinstance(rig.of(1, Finished)[0], Finished)
    assert np.abs(rig.pcm(1)).max() > 100
    assert settled(rig.runner)


def test_eight_contexts_that_join_and_leave_make_what_each_makes_alone(rig):
    said = dict(enumerate(zip(TEXTS, store(rig.runner, len(TEXTS)), strict=True), start=1))
    for ctx, (text, voice) in said.items():
        rig.speak(ctx, text, voice=voice, seed=ctx)
        rig.turns(7 * ctx)
    rig.run(*said)
    for ctx, (text, voice) in said.items():
        solo = Rig(rig.runner)
        solo.speak(ctx, text, voice=voice, seed=ctx)
        close(rig.pcm(ctx), solo.run(ctx).pcm(ctx))
        assert rig.begun[ctx].decoding.tokens == solo.begun[ctx].decoding.tokens != []
    assert settled(rig.runner)
    for _, voice in said.values():
        rig.runner.forget_voice(voice)


def test_seeds_differ_and_are_kept(runner, hellos):
    one, other = hellos[1], hellos[2]
    assert np.array_equal(one, alone(runner, "Hello there.", seed=1))
    assert len(one) != len(other) or np.abs(one - other).max() > 100


@pytest.mark.parametrize("turns", [1, 3, 9, 20, 33, 41, 55])
def test_a_cancel_at_any_step_frees_all_and_leaves_no_trace(rig, hellos, turns):
    rig.speak(1, "This one is cancelled.", voice=MANDARIN, seed=5)
    rig.turns(turns)
    rig.cancel(1)
    rig.turns(1)
    assert rig.of(1, Released)
    assert settled(rig.runner)
    rig.speak(2, "Hello there.", seed=1)
    rig.run(2)
    close(rig.pcm(2), hellos[1])


def test_speed_changes_the_length_and_not_the_tokens(runner):
    plain, fast, slow = (alone(runner, "Hello there.", speed=speed) for speed in (1.0, 2.0, 0.5))
    assert len(fast) == pytest.approx(len(plain) / 2, rel=0.2)
    assert len(slow) == pytest.approx(len(plain) * 2, rel=0.2)


def test_an_instruction_takes_the_transcripts_place(runner):
    plain = alone(runner, "Hello there.", seed=1)
    happy = alone(runner, "Hello there.", seed=1, instruct="Speak happily.")
    assert len(plain) != len(happy) or np.abs(plain - happy).max() > 100


def test_a_second_utterance_of_a_voice_finds_it_made(runner):
    part = runner._speech.voices._by_id[ENGLISH]
    alone(runner, "Hello there.")
    voice, prefixes = part.flow.voice, dict(part.prefixes)
    before = runner.figures()
    alone(runner, "And again.")
    assert part.flow.voice is voice is not None
    assert set(part.prefixes) >= set(prefixes) != set()
    after = runner.figures()
    assert after["voice_hits"] == before["voice_hits"] + 1
    assert after["voice_misses"] == before["voice_misses"]
    assert after["voice_bytes"] > 0


def test_what_is_kept_of_a_voice_changes_nothing_that_is_heard(checkpoint, tmp_path):
    fresh = load(checkpoint, tmp_path)
    first = alone(fresh, "Hello there, you.", voice=MANDARIN, seed=3)
    second = alone(fresh, "Hello there, you.", voice=MANDARIN, seed=3)
    close(first, second)


def test_more_voices_than_there_is_room_for_are_made_again(checkpoint, tmp_path):
    runner = load(checkpoint, tmp_path)
    whole = {voice: alone(runner, "Hello.", voice=voice) for voice in (ENGLISH, MANDARIN)}
    voices = runner._speech.voices
    voices.pages._budget_bytes = voices.prefixes._budget_bytes = 0
    send_voices_away(runner)
    for voice in (ENGLISH, MANDARIN, ENGLISH):
        close(alone(runner, "Hello.", voice=voice), whole[voice])
        assert voices.device_bytes == 0
    assert settled(runner)


def test_where_memory_is_short_the_newest_gives_way_and_the_others_go_on(checkpoint, tmp_path):
    runner = load(checkpoint, tmp_path)
    text = "This text is long enough to take a few pages for itself."
    longest_s = max(len(alone(runner, text, seed=seed)) for seed in (1, 2, 3)) / 24_000
    pool = runner._speech.models.flow.pool
    hoard = pool.take(pool.free - round(longest_s) - 1)  # a page is a second of audio
    rig = Rig(runner)
    for ctx in (1, 2, 3):
        rig.speak(ctx, text, seed=ctx)
    rig.run(1, 2, 3)
    assert rig.of(1, Finished)
    failed = rig.of(3, Failed)
    assert [(each.code, each.retryable) for each in failed] == [("overloaded", True)]
    del hoard
    assert settled(runner)


@pytest.mark.parametrize(
    ("part", "step"), [("decoder", "step"), ("flow", "euler"), ("vocoder", "step")]
)
def test_a_device_that_holds_no_batch_of_three_serves_the_two_who_came_first(
    runner, hellos, monkeypatch, part, step
):
    network = getattr(runner._speech.models, part)
    compute = getattr(network, step)

    def small(rows):
        if len(rows) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return compute(rows)

    monkeypatch.setattr(network, step, small)
    rig = Rig(runner)
    for ctx in (1, 2, 3):
        rig.speak(ctx, "Hello there.", seed=ctx)
    rig.run(1, 2, 3)
    failed = [each for ctx in (1, 2, 3) for each in rig.of(ctx, Failed)]
    assert [(each.ctx, each.code, each.retryable) for each in failed] in (
        [(3, "overloaded", True)],
        [],  # never three at once in this network
    )
    monkeypatch.setattr(network, step, compute)
    for ctx in (1, 2):
        close(rig.pcm(ctx), hellos[ctx])
    assert settled(runner)


def test_a_voice_that_was_removed_is_purged_from_the_device_too(checkpoint, tmp_path):
    runner = load(checkpoint, tmp_path)
    alone(runner, "Hello.", voice=MANDARIN)
    alone(runner, "Hello.", voice=ENGLISH)
    before = runner.figures()
    runner.forget_voice(MANDARIN)
    gc.collect()  # rigs are circles, and remember what they spoke
    after = runner.figures()
    assert after["voice_bytes"] < before["voice_bytes"]
    assert after["flow_bytes_free"] > before["flow_bytes_free"]
    assert not runner.has_voice(MANDARIN)
    assert settled(runner)


def test_a_network_that_raises_on_one_context_fails_that_one_alone(runner, monkeypatch):
    step = runner._speech.models.vocoder.step

    def moody(rows):
        if any(state.key == guilty for state, _, _ in rows):
            raise RuntimeError("a fault")
        return step(rows)

    rig = Rig(runner)
    rig.speak(1, "Hello there.", seed=1)
    rig.speak(2, "Hello there.", seed=2)
    rig.turns(1)
    guilty = rig.engine._live[2].work.state.sound.key
    monkeypatch.setattr(runner._speech.models.vocoder, "step", moody)
    rig.run(1, 2)
    assert rig.of(1, Finished)
    assert [each.code for each in rig.of(2, Failed)] == ["synthesis_failed"]
    assert settled(runner)


def test_samples_that_are_no_numbers_fail_their_context_with_its_seed(runner, monkeypatch):
    step = runner._speech.models.vocoder.step
    monkeypatch.setattr(
        runner._speech.models.vocoder,
        "step",
        lambda rows: [(samples * np.nan, state) for samples, state in step(rows)],
    )
    rig = Rig(runner)
    rig.speak(1, "Hello there.", seed=77)
    rig.run(1)
    (failed,) = rig.of(1, Failed)
    assert "seed 77" in failed.message
    assert settled(runner)


def test_a_model_that_rests_gives_its_memory_back_and_comes_back(checkpoint, tmp_path):
    runner = load(checkpoint, tmp_path)
    before = alone(runner, "Hello there.", seed=1)
    models = runner._speech.models
    held = [weakref.ref(part) for part in (models.decoder, models.flow.pool, models.vocoder)]
    del models
    runner.unload()
    assert [part() for part in held] == [None] * 3
    assert not runner.has_voice(ENGLISH)
    assert runner.figures() == {}
    runner.load_voice(MANDARIN)
    runner.load_voice(ENGLISH)
    few_tokens(runner)
    close(alone(runner, "Hello there.", seed=1), before)


def test_idle_voices_leave_the_device_before_anyone_is_refused(checkpoint, tmp_path):
    runner = load(checkpoint, tmp_path)
    for voice in (ENGLISH, MANDARIN):
        alone(runner, "Hello.", voice=voice)
    pool = runner._speech.models.flow.pool
    hoard = pool.take(pool.free)
    assert len(alone(runner, "Hello.", voice=ENGLISH)) > 0
    assert runner._speech.voices._by_id[MANDARIN].flow.voice is None
    del hoard


def test_a_profile_is_what_steps_are_taken_to_cost_before_any_has_run(tmp_path):
    path = tmp_path / "card.json"
    line = {"base_s": 0.25, "unit_s": 0.125}
    costs = dict.fromkeys(("llm", "flow", "vocoder"), line)
    path.write_text(json.dumps({"device": "My card", "costs": costs}), encoding="utf-8")
    settings = CosyVoiceSettings(profile=str(path))
    runner = CosyVoiceRunner(EngineSettings(runner="cosyvoice", model="x", cosyvoice=settings))
    assert [stage.prior for stage in runner.stages] == [Cost(**line)] * 3


def test_a_voice_that_nobody_stored(runner):
    with pytest.raises(UnknownVoice):
        runner.load_voice("v-77777777777777777777")


def test_it_says_what_it_is(runner, generation):
    ready = runner.ready(4)
    assert (ready.runner, ready.slots, ready.cloning) == (generation, 4, True)
    assert {voice.id for voice in ready.voices} >= {ENGLISH, MANDARIN}
    assert ready.default_voice == ENGLISH
    assert set(ready.options) >= {"speed", "seed", "instruct", "interleaved"}
    assert ("instruct_interleaved" in ready.options) == (generation == "cosyvoice3")


def test_marks_within_a_text_reach_the_model_as_its_own_tokens(runner):
    marks = runner.ready(4).marks
    assert {"[laughter]", "[breath]", "<strong>", "</strong>"} <= set(marks)
    assert not any(mark.startswith("<|") for mark in marks)
    text = "Ha [laughter], <strong>yes</strong>."
    line = TextPipeline(Segmenter(language="en"), Normaliser((), language="en", marks=marks))
    (segment,) = (*line.append(text, 0.0), *line.end(0.0))
    special = runner._speech.models.tokenizer.special
    work = Work(ctx=1, segment=segment, voice="", speed=1.0, seed=0)
    ids = set(runner._speech._utterances.text_of(work))
    assert {special[mark] for mark in ("[laughter]", "<strong>", "</strong>")} <= ids
