"""Text that arrives in mid-sentence, through the engine's loop and the networks."""

import itertools
import json
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from cosyvoice_rig import ENGLISH, MANDARIN, Rig, Writer, settled, turns, written
from making import segment

from streaming.messages import (
    Audio,
    End,
    Failed,
    Finished,
    Open,
    Released,
    SegmentGrown,
    SegmentStarted,
    Speak,
)

TEXT = "I am here, and you?"
PARTS = ("I am", " here,", " and you?")
VERSION_3 = pytest.mark.parametrize("generation", ["cosyvoice3"], indirect=True, scope="session")
"""For what is the LLM's alone, and takes long."""

LATER = 10_000
"""Turns after which a context has long said all that it can."""


def close(one, other):
    assert len(one) == len(other)
    assert np.abs(one - other).max() <= 3


@pytest.fixture(scope="module")
def at_once(runner):
    """What comes of the text where all of it is there from the beginning."""
    rig = written(Rig(runner), 1, (TEXT,), seed=3).run(1)
    return rig.begun[1].decoding.tokens, rig.pcm(1)


class TestWhenTextComesMakesNoDifference:
    @pytest.mark.parametrize("apart", [0, 7, LATER])
    def test_part_by_part(self, runner, at_once, apart):
        rig = written(Rig(runner), 1, PARTS, apart=apart, seed=3).run(1)
        tokens, pcm = at_once
        assert rig.begun[1].decoding.tokens == tokens != []
        close(rig.pcm(1), pcm)

    def test_letter_by_letter_at_random_moments(self, runner, at_once):
        random = np.random.default_rng(1)
        rig = Rig(runner)
        writer = Writer(rig, 1, seed=3)
        for letter in TEXT:
            writer.write(letter)
            turns(rig, int(random.integers(0, 25)))
        writer.end()
        rig.run(1)
        tokens, pcm = at_once
        assert rig.begun[1].decoding.tokens == tokens
        close(rig.pcm(1), pcm)

    @VERSION_3
    def test_nor_whether_it_was_complete_before_it_was_begun(self, runner, at_once):
        rig = Rig(runner)
        rig.inbox.append(Open(ctx=1, voice=ENGLISH, interleaved=True, seed=3))
        rig.inbox.append(
            Speak(ctx=1, segment=msgspec.structs.replace(segment(TEXT), language="en"))
        )
        rig.inbox.append(End(ctx=1))
        assert rig.run(1).begun[1].decoding.tokens == at_once[0]

    @VERSION_3
    def test_it_is_another_speech_than_that_of_whole_text(self, runner, at_once):
        rig = Rig(runner)
        rig.speak(1, TEXT, seed=3)
        assert rig.run(1).begun[1].decoding.tokens != at_once[0]

    @VERSION_3
    def test_nor_who_else_speaks(self, runner):
        """Eight contexts, every other one interleaved, equal each alone."""
        texts = {ctx: (f"It is {ctx}", ", you", " see.") for ctx in range(1, 9)}
        rig = Rig(runner)
        writers = {}
        for step, ctx in itertools.product(range(3), texts):
            voice = MANDARIN if ctx % 4 else ENGLISH
            if ctx % 2:
                if not step:
                    writers[ctx] = Writer(rig, ctx, voice=voice, seed=ctx)
                writers[ctx].write(texts[ctx][step])
            elif not step:
                rig.speak(ctx, "".join(texts[ctx]), voice=voice, seed=ctx)
            turns(rig, 9)
        for writer in writers.values():
            writer.end()
        rig.run(*texts)
        for ctx, parts in texts.items():
            voice = MANDARIN if ctx % 4 else ENGLISH
            solo = Rig(runner)
            if ctx % 2:
                written(solo, ctx, parts, voice=voice, seed=ctx)
            else:
                solo.speak(ctx, "".join(parts), voice=voice, seed=ctx)
            close(rig.pcm(ctx), solo.run(ctx).pcm(ctx))
            assert rig.begun[ctx].decoding.tokens == solo.begun[ctx].decoding.tokens
        assert settled(runner)


@VERSION_3
def test_speech_that_a_slot_has_no_room_for_is_told_in_the_log(runner, monkeypatch, capfd):
    decoder, rig = runner._speech.models.decoder, Rig(runner)
    written(rig, 1, (TEXT, TEXT)).run(1)
    assert "speech_cut_off" not in capfd.readouterr().err
    less = replace(decoder.limits, positions=rig.begun[1].decoding.fed - 10)
    monkeypatch.setattr(decoder, "limits", less)
    written(rig, 2, (TEXT, TEXT)).run(2)
    told = json.loads(capfd.readouterr().err)
    assert (told["event"], told["level"], told["ctx"]) == ("speech_cut_off", "warning", 2)


class TestWhileItWaits:
    def test_speech_is_there_before_the_text_is_complete(self, rig):
        writer = Writer(rig, 1)
        writer.write("I am thinking of a walk")
        turns(rig, LATER)
        assert rig.of(1, Audio)
        assert not rig.of(1, Finished)
        writer.write(" with you.")
        writer.end()
        rig.run(1)
        (started,), (grown,) = rig.of(1, SegmentStarted), rig.of(1, SegmentGrown)
        assert started.segment.source.endswith("walk")
        assert grown.part.source == " with you."
        assert settled(rig.runner)

    @VERSION_3
    def test_no_step_is_made_for_it(self, rig):
        Writer(rig, 1).write("I am thinking of a walk")
        turns(rig, LATER)
        steps = rig.engine._vitals.steps
        rig.turns(1)
        assert rig.engine._vitals.steps == steps
        assert not rig.engine._launches.busy
        (live,) = rig.engine._live.values()
        assert live.context.starved
        rig.cancel(1)
        rig.turns(1)
        assert rig.of(1, Released)
        assert settled(rig.runner)

    def test_too_little_to_begin_with_takes_no_slot(self, rig):
        decoder = rig.runner._speech.models.decoder
        writer = Writer(rig, 1)
        writer.write("I")
        turns(rig, 50)
        assert decoder.free_slots == decoder.cache.slots
        writer.end()
        assert isinstance(rig.run(1).of(1, Finished)[0], Finished)
        assert settled(rig.runner)

    @VERSION_3
    @pytest.mark.parametrize("count", [1, 9, 20, 45, LATER])
    def test_a_cancel_at_any_time_frees_all(self, rig, count):
        Writer(rig, 1).write("I am thinking of a walk")
        turns(rig, count)
        rig.cancel(1)
        rig.turns(1)
        assert rig.of(1, Released)
        assert settled(rig.runner)

    def test_after_a_flush_the_next_segment_begins(self, rig):
        writer = Writer(rig, 1)
        writer.write("I am here.")
        writer.end(last=False)
        turns(rig, LATER)
        following = Writer(rig, 1, index=1, opens=False)
        following.write("And you?")
        following.end()
        rig.run(1)
        assert [each.segment.index for each in rig.of(1, SegmentStarted)] == [0, 1]
        assert settled(rig.runner)


class TestItsVoice:
    def test_what_it_begins_with_is_kept_beside_that_of_whole_text(self, runner):
        def kept(rig):
            rig.run(1)
            prefixes = runner._speech.voices._by_id[ENGLISH].prefixes
            return [(bool(prompt.speech), streamed) for prompt, streamed in prefixes]

        first = kept(written(Rig(runner), 1, ("I",)))
        assert first.count((True, True)) == 1
        assert kept(written(Rig(runner), 1, ("I",))) == first
        whole = Rig(runner)
        whole.speak(1, "I.")
        assert {streamed for _, streamed in kept(whole)} == {True, False}

    @VERSION_3
    def test_an_instruction_stands_before_the_text(self, rig):
        written(rig, 1, PARTS, apart=20, instruct="Speak happily.", seed=3).run(1)
        assert not rig.of(1, Failed)
        assert not rig.begun[1].prompt.speech

    @VERSION_3
    def test_text_in_another_language_does_not_wait_for_the_recordings_speech(self, rig):
        writer = Writer(rig, 1, voice=ENGLISH)
        writer.write("我们去", language="zh")
        writer.write("公园走走吧好不好", language="zh")
        turns(rig, LATER)
        assert not rig.begun[1].prompt.speech
        writer.end()
        rig.run(1)
        assert settled(rig.runner)
