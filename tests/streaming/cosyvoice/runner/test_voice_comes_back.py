"""A voice that is known costs no work a second time, and says the same from every level."""

from __future__ import annotations

import threading
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from cosyvoice_rig import ENGLISH, MANDARIN, Rig, alone, send_voices_away, settled

from streaming.cosyvoice.flow.values import VoiceHop
from streaming.cosyvoice.sizes import EULER_STEPS
from streaming.messages import Audio, Finished, Released
from streaming.runners.cosyvoice import threads

TEXT = "Hello."

ONE_GENERATION = pytest.mark.parametrize("generation", ["cosyvoice3"], indirect=True)
"""Where the networks do not matter."""


@pytest.fixture(autouse=True)
def nothing_is_left(runner):
    yield
    assert settled(runner)
    send_voices_away(runner)


@contextmanager
def counted(owner, name, note):
    """``note(arguments, result)`` for each call, while it lasts."""
    call = getattr(owner, name)

    def noted(*arguments, **options):
        result = call(*arguments, **options)
        note(arguments, result)
        return result

    setattr(owner, name, noted)
    try:
        yield
    finally:
        delattr(owner, name)


class Work:
    """What is done for voices while contexts speak."""

    def __init__(self):
        self.heard = self.prompts = self.prompt_steps = self.copies = 0
        self.prefill_tokens = []
        """Of each segment, all that the LLM is still to be fed when it begins."""

    @contextmanager
    def of(self, runner):
        models = runner._speech.models
        with (
            counted(models.listener, "features", self._hear),
            counted(models.flow, "prepare", self._prepare),
            counted(models.flow, "euler", self._euler),
            counted(models.flow, "to_device", self._copy),
            counted(models.decoder, "begin", self._begin),
        ):
            yield self

    def _hear(self, _, __):
        self.heard += 1

    def _prepare(self, _, __):
        self.prompts += 1

    def _euler(self, arguments, _):
        self.prompt_steps += sum(isinstance(hop, VoiceHop) for hop in arguments[0])

    def _copy(self, arguments, moved):
        self.copies += moved is not arguments[0]

    def _begin(self, _, decoding):
        self.prefill_tokens.append(sum(len(piece.codes) for piece in decoding.script.pieces))


def speak(runner, text, **options):
    """What it makes, what was done for that, and how many steps there were before it began."""
    work, rig = Work(), Rig(runner)
    with work.of(runner):
        rig.speak(1, text, **options)
        before = rig.engine._vitals.steps
        while not rig.of(1, Audio):
            rig.turns(1)
        first = rig.engine._vitals.steps - before
        rig.run(1)
    return rig, work, first


def wake_to(runner, level, voice):
    """The voice is on that level, and on none above it."""
    voices = runner._speech.voices
    send_voices_away(runner, from_host=level != "host")
    if level == "disk":
        kept, voices._features_bytes = voices._features_bytes, 0
        stays = {flow: flow.stays for flow in voices._flows.values()}
        for flow in stays:
            flow.stays = False
        with voices._changing:
            voices._trim_features()
        voices._features_bytes = kept
        assert not runner.has_voice(voice)


class TestKnownVoice:
    def test_its_second_utterance_costs_the_text_and_what_comes_after_it(self, runner):
        send_voices_away(runner)
        _, first, steps = speak(runner, TEXT, voice=ENGLISH, seed=1)
        rig, second, fewer = speak(runner, "Worlds.", voice=ENGLISH, seed=1)
        assert (first.prompts, first.prompt_steps) == (1, EULER_STEPS)
        assert (second.heard, second.prompts, second.prompt_steps, second.copies) == (0, 0, 0, 0)
        row = rig.begun[1]
        task = 1
        after_prefix = len(row.text) + task + len(row.prompt.speech)
        assert second.prefill_tokens == [after_prefix]
        sos = 1
        assert first.prefill_tokens == [
            sos + len(row.prompt.text) + len(speak_text(runner, TEXT)) + task
            + len(row.prompt.speech)
        ]  # fmt: skip
        assert fewer <= steps - EULER_STEPS, "it is heard sooner by the prompt's steps"

    def test_so_does_the_first_of_somebody_else_with_the_same_recording(self, runner):
        alone(runner, TEXT, voice=MANDARIN)
        _, work, _ = speak(runner, TEXT, voice=MANDARIN, instruct="Speak happily.")
        assert (work.heard, work.prompts, work.prompt_steps) == (0, 0, 0)

    def test_from_the_host_it_is_copied_and_nothing_is_made(self, runner):
        alone(runner, TEXT, voice=MANDARIN)
        send_voices_away(runner, from_host=False)
        before = runner.figures()
        rig, work, _ = speak(runner, TEXT, voice=MANDARIN)
        assert (work.heard, work.prompts, work.prompt_steps, work.copies) == (0, 0, 0, 1)
        row = rig.begun[1]
        assert work.prefill_tokens == [len(row.text) + 1 + len(row.prompt.speech)]
        after = runner.figures()
        assert after["voice_host_hits"] == before["voice_host_hits"] + 1
        assert after["prefix_host_hits"] == before["prefix_host_hits"] + 1
        assert after["voice_host_bytes"] < before["voice_host_bytes"]


def speak_text(runner, text):
    """Its ids."""
    rig = Rig(runner)
    rig.speak(1, text)
    rig.turns(1)
    ids = rig.begun[1].text
    rig.cancel(1)
    rig.turns(1)
    return ids


@pytest.mark.parametrize("level", ["host", "features", "disk"])
def test_from_every_level_it_says_what_it_said_before(runner, level):
    alone(runner, TEXT, voice=MANDARIN, seed=3)
    before = alone(runner, TEXT, voice=MANDARIN, seed=3)
    wake_to(runner, level, MANDARIN)
    rig, work, _ = speak(runner, TEXT, voice=MANDARIN, seed=3)
    assert (work.copies, work.prompts) == ((1, 0) if level == "host" else (0, 1))
    after = rig.pcm(1)
    if level == "host":
        assert np.array_equal(before, after), "to the bit: what was copied is what was computed"
    else:
        assert len(before) == len(after)
        assert np.abs(before - after).max() <= 4


@ONE_GENERATION
@pytest.mark.parametrize("turns", [0, 1, 3])
@pytest.mark.parametrize("level", ["host", "features"])
def test_one_that_is_cancelled_while_its_voice_is_on_the_way_leaves_nothing(runner, level, turns):
    expected = alone(runner, TEXT, voice=MANDARIN, seed=4)
    wake_to(runner, level, MANDARIN)
    rig = Rig(runner)
    rig.speak(1, TEXT, voice=MANDARIN)
    rig.turns(1 + turns)
    rig.cancel(1)
    rig.turns(1)
    send_voices_away(runner)
    pool = runner._speech.models.flow.pool
    assert pool.free == pool.pages
    assert runner._speech.models.flow.host.used_bytes == 0
    assert np.abs(alone(runner, TEXT, voice=MANDARIN, seed=4) - expected).max() <= 4


class Still:
    """A stream on which what is launched is done."""

    def entered(self):
        return nullcontext()

    def synchronize(self):
        """Nothing is under way."""

    def mark(self):
        return self.synchronize


@ONE_GENERATION
def test_one_that_is_cancelled_in_the_midst_of_the_copy_leaves_the_voice_alone(runner, monkeypatch):
    alone(runner, TEXT, voice=MANDARIN)
    send_voices_away(runner, from_host=False)
    flow, part = runner._speech.models.flow, runner._speech.voices._by_id[MANDARIN].flow
    begun, go_on, copy = threading.Event(), threading.Event(), flow.to_device

    def slow(voice):
        begun.set()
        assert go_on.wait(60)
        return copy(voice)

    monkeypatch.setattr(flow, "to_device", slow)
    place = threads.StreamThread("flow", Still())
    monkeypatch.setattr(runner._speech._flow, "_place", place)
    rig = Rig(runner)
    rig.speak(1, TEXT, voice=MANDARIN)
    while not begun.is_set():
        rig.turns(1)
    rig.cancel(1)
    rig.turns(1)
    assert not rig.of(1, Released)
    assert part.users == 1, "its step is under way"
    go_on.set()
    while part.users:
        rig.turns(1)
    assert rig.of(1, Released)
    place.close()
    assert part.away is None
    assert part.voice.kept


@ONE_GENERATION
def test_where_there_is_room_for_one_they_take_turns_and_each_keeps_its_sound(runner):
    voices, pool = runner._speech.voices, runner._speech.models.flow.pool
    sounds = {voice: alone(runner, TEXT, voice=voice, seed=5) for voice in (ENGLISH, MANDARIN)}
    send_voices_away(runner)
    alone(runner, TEXT, voice=ENGLISH, seed=5)
    seconds = max(map(len, sounds.values())) // 24_000
    hoard = pool.take(pool.free - 2 - seconds)
    before = runner.figures()
    for voice in (MANDARIN, ENGLISH) * 2:
        assert np.abs(alone(runner, TEXT, voice=voice, seed=5) - sounds[voice]).max() <= 4
    assert runner.figures()["voice_host_hits"] > before["voice_host_hits"]
    assert voices.host_bytes > 0
    del hoard


@ONE_GENERATION
def test_where_none_may_stay_all_that_leave_come_back(runner, monkeypatch):
    voices, texts = runner._speech.voices, {ENGLISH: "One.", MANDARIN: "一。"}
    sounds = {voice: alone(runner, text, voice=voice, seed=6) for voice, text in texts.items()}
    monkeypatch.setattr(voices.pages, "_budget_bytes", 0)
    monkeypatch.setattr(voices.prefixes, "_budget_bytes", 0)
    for _ in range(2):
        rig = Rig(runner)
        for ctx, (voice, text) in enumerate(texts.items(), 1):
            rig.speak(ctx, text, voice=voice, seed=6)
        rig.run(1, 2)
        for ctx, voice in enumerate(texts, 1):
            assert rig.of(ctx, Finished)
            assert np.abs(rig.pcm(ctx) - sounds[voice]).max() <= 4
        assert voices.device_bytes == 0
