"""Faults that other servers of cloned voices were reported for, tried on this runner.

``docs/cases.md`` has what went wrong elsewhere under each label.
"""

from __future__ import annotations

import gc
import threading
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from cosyvoice_rig import ENGLISH, MANDARIN, Rig, alone, load, send_voices_away, settled
from recordings import speech, wav

from streaming.audio.pcm import FULL_SCALE
from streaming.cosyvoice.sizes import (
    BLOCK_TOKENS,
    FRAME_SAMPLES,
    FRAMES_PER_TOKEN,
    LOOKAHEAD_TOKENS,
)
from streaming.messages import Failed, Finished, SegmentStarted
from streaming.runners.cosyvoice import progress
from streaming.runners.cosyvoice.prompts import Prompts, Spoken
from streaming.samples import CHUNK_SAMPLES, SAMPLE_RATE
from streaming.voices.files import VoiceFiles, VoiceRecord, digest

TOKEN_SAMPLES = FRAME_SAMPLES * FRAMES_PER_TOKEN
ROUNDING = 4
"""16-bit samples of the same audio differ by so much, computed in batches of another shape."""

ONE_GENERATION = pytest.mark.parametrize("generation", ["cosyvoice3"], indirect=True)
"""Where the networks do not matter."""

TRANSCRIPT = "Good morning, this is how I speak."
LONGER = "Some hops are in this."


def store(runner, letter, recording, *, name="A voice", owner="me", transcript=TRANSCRIPT):
    """A voice as the server keeps it; features are not made yet. Its id."""
    files = VoiceFiles(Path(runner._settings.voices_dir))
    data = wav(recording, SAMPLE_RATE)
    files.write_audio(digest(data), data)
    record = VoiceRecord(
        id=f"v-{letter * 20}",
        name=name,
        owner=owner,
        transcript=transcript,
        language="en",
        consent="a test",
        created="2026-11-30T00:00:00Z",
        audio=digest(data),
        duration_ms=round(1000 * len(recording) / SAMPLE_RATE),
    )
    files.write_record(record)
    return record.id


def a_person(number):
    """Three seconds of somebody; another number is somebody else."""
    quick = np.arange(0, 3 * SAMPLE_RATE) * (1 + 0.07 * number)
    samples = speech(SAMPLE_RATE)
    return np.interp(quick, np.arange(len(samples)), samples).astype(np.float32)


@pytest.fixture
def voices(runner):
    """``voices(letter, recording, ...)`` stores one; all are forgotten at the end."""
    made = []

    def make(*arguments, **options):
        made.append(store(runner, *arguments, **options))
        return made[-1]

    yield make
    for voice in made:
        runner.forget_voice(voice)


def alike(one, other):
    return len(one) == len(other) and np.abs(one - other).max(initial=0) <= ROUNDING


@contextmanager
def pieces_of(runner):
    """What the vocoder makes, step by step, for one context that has it to itself."""
    network, pieces = runner._speech.models.vocoder, []
    step = network.step

    def listened(rows):
        made = step(rows)
        pieces.extend(samples.numpy().copy() for samples, _ in made)
        return made

    network.step = listened
    try:
        yield pieces
    finally:
        del network.step


@contextmanager
def rows_of(runner):
    """What segments are to the runner while they are spoken."""
    speech_of, rows = runner._speech, []
    begin = speech_of.begin

    def noted(work):
        rows.append(begin(work))
        return rows[-1]

    speech_of.begin = noted
    try:
        yield rows
    finally:
        del speech_of.begin


@ONE_GENERATION
class TestCache:
    """Kind ``cache``: what is kept of a voice is known by what it was made of."""

    def test_a_changed_recording_is_another_voice(self, runner, voices):  # CAC-01
        changing = voices("a", a_person(1))
        before = alone(runner, "Hi.", voice=changing)
        runner.forget_voice(changing)
        assert voices("a", a_person(2)) == changing
        after = alone(runner, "Hi.", voice=changing)
        assert not alike(before, after)
        assert alike(after, alone(runner, "Hi.", voice=voices("b", a_person(2))))

    def test_one_recording_under_many_names_is_kept_once(self, runner, voices):  # CAC-01
        ids = [voices(letter, a_person(1), name=letter) for letter in "abc"]
        heard = [alone(runner, "Hi.", voice=voice) for voice in ids]
        assert alike(heard[0], heard[1])
        assert alike(heard[0], heard[2])
        parts = [runner._speech.voices._by_id[voice] for voice in ids]
        assert len({id(part) for part in parts}) == len({id(part.flow) for part in parts}) == 1
        runner.forget_voice(ids[0])
        assert alike(heard[1], alone(runner, "Hi.", voice=ids[1])), "the others keep it"

    def test_names_and_transcripts_are_no_keys(self, runner, voices):  # CAC-03
        mine = voices("a", a_person(1), name="English", owner="me")
        yours = voices("b", a_person(2), name="English", owner="you")
        rig = Rig(runner)
        for ctx, voice in enumerate((mine, yours, ENGLISH), 1):
            rig.speak(ctx, "Hi.", voice=voice)
        rig.run(1, 2, 3)
        for one, other in combinations((1, 2, 3), 2):
            assert not alike(rig.pcm(one), rig.pcm(other))
        for ctx, voice in enumerate((mine, yours, ENGLISH), 1):
            assert alike(rig.pcm(ctx), alone(runner, "Hi.", voice=voice))

    def test_a_transcript_put_right_is_another_voice_of_the_same_recording(self, runner, voices):
        wrong = voices("a", a_person(1), transcript="Good night.")  # CAC-03
        right = voices("b", a_person(1), transcript=TRANSCRIPT)
        assert not alike(
            alone(runner, LONGER, voice=wrong, seed=1), alone(runner, LONGER, voice=right, seed=1)
        )
        part, other = (runner._speech.voices._by_id[voice] for voice in (wrong, right))
        assert part.flow is other.flow

    def test_every_option_changes_the_sound_and_the_same_ones_do_not(self, runner):  # CAC-04
        options = (
            {},
            {"speed": 1.2},
            {"seed": 2},
            {"instruct": "Speak happily."},
            {"instruct": "Speak sadly."},
            {"voice": MANDARIN},
            {"voice": MANDARIN, "instruct": "Speak sadly."},
        )
        first = [alone(runner, "Hi.", **each) for each in options]
        again = [alone(runner, "Hi.", **each) for each in reversed(options)]
        for one, other in combinations(first, 2):
            assert not alike(one, other)
        for one, same in zip(first, reversed(again), strict=True):
            assert alike(one, same)

    def test_features_of_another_model_are_made_anew(self, runner, voices):  # CAC-04
        files = VoiceFiles(Path(runner._settings.voices_dir))
        voice = voices("a", a_person(1))
        audio = files.record(voice).audio
        files.write_features(audio, "another-model", b"no features of ours")
        assert len(alone(runner, "Hi.", voice=voice)) > CHUNK_SAMPLES
        ours = files.features(audio, runner._speech.models.listener.model)
        assert ours.exists()
        assert ours.read_bytes() != b"no features of ours"

    def test_twenty_first_requests_make_a_voice_once(self, checkpoint, tmp_path):  # CAC-05
        runner = load(checkpoint, tmp_path, slots=20)
        speech_of = runner._speech
        counted = {"features": 0, "prepare": 0}
        count(counted, speech_of.models.listener, "features")
        count(counted, speech_of.models.flow, "prepare")
        fresh, rig = store(runner, "a", a_person(3)), Rig(runner)
        contexts = range(1, 21)
        for ctx in contexts:
            rig.speak(ctx, "Hi.", voice=fresh)
        rig.run(*contexts)
        assert all(rig.of(ctx, Finished) for ctx in contexts)
        assert counted == {"features": 1, "prepare": 1}
        assert all(alike(rig.pcm(ctx), rig.pcm(1)) for ctx in contexts)
        assert settled(runner)

    def test_readers_that_meet_at_one_voice_end_with_one(self, runner, voices):  # CAC-05
        fresh = voices("a", a_person(4))
        readers = [threading.Thread(target=runner.load_voice, args=(fresh,)) for _ in range(6)]
        for each in readers:
            each.start()
        for each in readers:
            each.join(30)
        flows = runner._speech.voices._flows.values()
        assert sum(flow is runner._speech.voices._by_id[fresh].flow for flow in flows) == 1
        assert len(alone(runner, "Hi.", voice=fresh)) > CHUNK_SAMPLES


def count(counted, owner, name):
    call = getattr(owner, name)

    def counting(*arguments, **options):
        counted[name] += 1
        return call(*arguments, **options)

    setattr(owner, name, counting)


class TestBorders:
    """Kind ``audio border``: hops, chunks and segments cannot be heard."""

    def test_no_step_at_a_hop_is_larger_than_those_beside_it(self, runner):  # AUD-01
        with pieces_of(runner) as pieces:
            alone(runner, LONGER, seed=3)
        sounding = [piece for piece in pieces if len(piece)]
        assert len(sounding) > 2
        steps = np.abs(np.diff(np.concatenate(sounding)))
        near = 20 * SAMPLE_RATE // 1000
        for border in np.cumsum([len(piece) for piece in sounding])[:-1]:
            beside = np.concatenate(
                [steps[border - near : border - 1], steps[border : border + near]]
            )
            assert steps[border - 1] <= 2 * beside.max()

    @pytest.mark.parametrize("text", ["好的。", "我知道了。", "Sure."])  # AUD-03
    def test_a_model_that_begins_and_ends_in_silence_is_not_waited_for(self, runner, text):
        network = runner._speech.models.vocoder
        step, silent_samples = network.step, SAMPLE_RATE // 3
        heard = {}

        def hushed(rows):
            made = []
            for (state, _, last), (spoken, after) in zip(rows, step(rows), strict=True):
                samples, begin = spoken.clone(), heard.get(state.key, 0)
                heard[state.key] = begin + len(samples)
                samples[: max(0, silent_samples - begin)] = 0.0
                if last:
                    samples[-silent_samples:] = 0.0
                made.append((samples, after))
            return made

        network.step = hushed
        try:
            pcm = alone(runner, text, voice=MANDARIN, seed=3)
        finally:
            del network.step
        audible = np.flatnonzero(np.abs(pcm) > 0.002 * FULL_SCALE)
        assert audible[0] <= 0.1 * SAMPLE_RATE
        assert len(pcm) - audible[-1] <= 0.3 * SAMPLE_RATE, "the pause at the end, no more"

    @pytest.mark.parametrize("text", ["关上。", LONGER])  # AUD-04
    def test_every_token_that_was_made_is_heard(self, runner, text):
        for seed in (1, 2):
            with rows_of(runner) as rows, pieces_of(runner) as pieces:
                alone(runner, text, seed=seed)
            (row,) = rows
            assert sum(map(len, pieces)) == row.progress.made_tokens * TOKEN_SAMPLES > 0
            assert row.tokens == []

    @pytest.mark.parametrize("speed", [0.7, 2.0])  # AUD-04
    def test_at_any_speed_the_end_is_there(self, runner, speed):
        with rows_of(runner) as rows, pieces_of(runner) as pieces:
            alone(runner, LONGER, speed=speed, seed=1)
        (row,) = rows
        whole = row.progress.made_tokens * TOKEN_SAMPLES / speed
        assert abs(sum(map(len, pieces)) - whole) <= TOKEN_SAMPLES

    def test_segments_begin_and_end_at_rest(self, rig):  # AUD-09
        rig.speak(1, "Hello there.", "And again.", "Once more.")
        rig.run(1)
        pcm = rig.pcm(1)
        begins = [each.position_samples for each in rig.of(1, SegmentStarted)]
        assert len(begins) == 3
        assert all(abs(pcm[begin]) <= 0.01 * FULL_SCALE for begin in begins)
        assert all(abs(pcm[begin - 1]) <= 0.01 * FULL_SCALE for begin in begins[1:])
        assert abs(pcm[-1]) <= 0.01 * FULL_SCALE

    def test_how_it_is_cut_into_hops_is_not_heard(self, runner, monkeypatch):  # AUD-10
        def smallest(_rhythm, _costs, *, block_rest, available, **_):
            return block_rest if available - LOOKAHEAD_TOKENS >= block_rest else 0

        def late(_rhythm, _costs, *, block_rest, available, **_):
            usable = available - LOOKAHEAD_TOKENS - block_rest
            return block_rest + usable // BLOCK_TOKENS * BLOCK_TOKENS if usable > 60 else 0

        made = [alone(runner, LONGER, seed=4)]
        for policy in (smallest, late):
            monkeypatch.setattr(progress, "hop_tokens", policy)
            made.append(alone(runner, LONGER, seed=4))
        assert len({len(each) for each in made}) == 1
        if runner.ready(1).runner == "cosyvoice3":
            assert alike(made[0], made[1])
            assert alike(made[0], made[2])
        else:  # its vocoder fades pieces into each other, which are alike and not the same
            assert np.corrcoef(made[1], made[2])[0, 1] > 0.9


@ONE_GENERATION
class TestMemory:
    """Kind ``memory``: what a context or a voice took is free when it is gone."""

    def test_contexts_that_go_leave_no_thread(self, rig):  # MEM-02
        alone(rig.runner, "Hi.")
        before = threading.active_count()
        for ctx in range(1, 31):
            rig.speak(ctx, "Hello there.", end=False)
            rig.turns(1 + ctx % 7)
            rig.cancel(ctx)
        rig.turns(2)
        assert threading.active_count() == before
        assert settled(rig.runner)

    def test_turn_after_turn_needs_no_more_than_one_slot(self, rig):  # MEM-03
        decoder = rig.runner._speech.models.decoder
        kept, decoder._free = decoder._free[1:], decoder._free[:1]
        try:
            for ctx in range(1, 13):
                rig.speak(ctx, "Hi.", seed=ctx)
                rig.run(ctx)
                assert rig.of(ctx, Finished), rig.of(ctx, Failed)
                assert len(decoder._free) == 1
        finally:
            decoder._free += kept
        assert settled(rig.runner)

    def test_voices_that_come_and_go_leave_nothing(self, runner, voices):  # MEM-04
        kept = runner._speech.voices
        send_voices_away(runner)
        free = runner._speech.models.flow.pool.free
        before = (len(kept._by_id), len(kept._parts), len(kept._flows), kept.device_bytes)
        for number in range(8):
            voice, rig = voices("abcdefgh"[number], a_person(number % 3)), Rig(runner)
            rig.speak(1, "Hi.", voice=voice)
            if number % 2:
                rig.run(1)
            else:  # in the midst of what is made of it
                while not rig.begun:
                    rig.turns(1)
                rig.turns(3 * number)
                rig.cancel(1)
                rig.turns(1)
            runner.forget_voice(voice)
            del rig
        gc.collect()
        assert before == (len(kept._by_id), len(kept._parts), len(kept._flows), kept.device_bytes)
        assert runner._speech.models.flow.pool.free == free
        assert kept.host_bytes == runner._speech.models.flow.host.used_bytes == 0

    def test_instructions_without_end_take_bounded_room(self, runner):  # MEM-04
        for number in range(6):
            alone(runner, "Hi.", instruct=f"Speak in way number {number}.")
        parts = runner._speech.voices._parts.values()
        assert max(len(part.prefixes) for part in parts) <= 4

    def test_a_long_text_takes_no_more_than_a_segment(self, rig):  # MEM-05
        pool = rig.runner._speech.models.flow.pool
        most = []
        for ctx, segments in ((1, 1), (2, 6), (3, 1)):
            rig.speak(ctx, *["Hello there."] * segments)
            least = pool.free
            while not rig.of(ctx, Finished | Failed):
                rig.turns(1)
                least = min(least, pool.free)
            assert rig.of(ctx, Finished)
            most.append(pool.pages - least)
        assert most[1] <= most[0] + 2, "segments differ a little in length"
        assert most[2] == most[0]
        assert settled(rig.runner)

    def test_a_short_text_costs_the_same_before_and_after_a_long_one(self, rig):  # MEM-05
        def steps(ctx, text):
            before = rig.engine._vitals.steps
            rig.speak(ctx, text, seed=1)
            rig.run(ctx)
            return rig.engine._vitals.steps - before

        before = steps(1, "Hi.")
        assert steps(2, LONGER * 2) > 2 * before
        assert steps(3, "Hi.") <= before + 2


@ONE_GENERATION
class TestShortTexts:
    """Kind ``voice upload``: a recording that says more than the text to be spoken."""

    @pytest.fixture
    def prompts(self, runner):
        return Prompts(runner._speech.models.tokenizer, runner._speech.models.generation)

    @pytest.fixture
    def voice(self):
        return Spoken(transcript="word " * 12, speech=tuple(range(50)), language="en")

    def test_a_text_much_shorter_than_the_transcript_does_without_it(self, prompts, voice):
        said = len(prompts._said(voice))  # VOI-12
        with_it = prompts.of(voice, None, "en", said)
        short = prompts.of(voice, None, "en", said // 2 - 1)
        assert with_it.speech == voice.speech
        assert short.speech == ()
        assert len(short.text) < len(with_it.text)

    @pytest.mark.parametrize("text", ["好。", "行", (LONGER * 9)[:200]])  # VOI-12
    def test_every_text_is_spoken_whatever_its_length(self, runner, voices, monkeypatch, text):
        decoder = runner._speech.models.decoder
        monkeypatch.setattr(decoder, "limits", replace(decoder.limits, most=2))
        voice = voices(
            "a", a_person(1), transcript="Sixty characters of a transcript, and then some."
        )
        with rows_of(runner) as rows, pieces_of(runner) as pieces:
            assert len(alone(runner, text, voice=voice)) >= CHUNK_SAMPLES
        made = sum(row.progress.made_tokens for row in rows)
        assert made == 2 * sum(len(row.text) for row in rows), "each of its tokens was said"
        assert sum(map(len, pieces)) == made * TOKEN_SAMPLES
