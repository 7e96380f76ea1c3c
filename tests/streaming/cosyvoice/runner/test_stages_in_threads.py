"""A thread a stage, as on a GPU, with contexts that come, go, wait and leave the device."""

import contextlib
import random

import numpy as np
import pytest
import torch
from cosyvoice_rig import Rig, Writer, alone, send_voices_away, settled, turns, written

from streaming.cosyvoice.flow.host import HostMemory
from streaming.messages import Failed, Finished, Park, Released, Unpark
from streaming.runners.cosyvoice import speech as speech_module
from streaming.runners.cosyvoice import threads
from streaming.runners.cosyvoice.profile import SMALL_CARD
from streaming.runners.cosyvoice.rhythm import stages
from streaming.runners.cosyvoice.speech import Speech

TEXTS = {1: "Long enough for two pages.", 2: "Another one of them."}


LATER = 10_000
"""Turns after which a context has long said all that it can."""


class NullStream:
    """On a CPU what is launched is done."""

    def __init__(self, *of):
        del of

    def entered(self):
        return contextlib.nullcontext()

    def mark(self):
        return lambda: None


@pytest.fixture(scope="module")
def in_place(runner):
    """What the contexts make without threads."""
    return {ctx: alone(runner, text, seed=ctx) for ctx, text in TEXTS.items()}


@pytest.fixture(params=[1, 4])
def threaded(request, runner, in_place, monkeypatch):
    """The runner that all tests of a generation share, its stages in one thread or in three."""
    before, inline = runner._speech, runner.stages
    flow = before.models.flow
    host, flow.host = flow.host, HostMemory(flow.pool, 1 << 30)

    def places(device, names, streams):
        del device, streams
        return threads.places(torch.device("cuda", 0), names, request.param, NullStream)

    monkeypatch.setattr(speech_module, "places", places)
    runner._speech = Speech(before.models, runner._settings)
    runner._speech.voices = before.voices
    runner.stages = stages(8, SMALL_CARD, ahead=2)
    yield runner, in_place
    runner._speech.close()
    runner._speech, runner.stages = before, inline
    send_voices_away(runner)
    assert settled(runner)
    flow.host = host


def close(one, other):
    """16-bit samples of the same audio, computed in batches of another shape."""
    assert len(one) == len(other)
    assert np.abs(one - other).max() <= 4


def idle(rig, ctx):
    """Until nothing of the context is under way."""
    for _ in range(2000):
        live = rig.engine._live.get(ctx)
        if live is None or not live.under_way.total():
            return
        rig.turns(1)
    raise AssertionError("a step has not ended")


def for_a_while(rig, ctx, steps):
    """So many steps, or to the end of the context."""
    end = rig.engine._vitals.steps + steps
    while rig.engine._vitals.steps < end and not rig.of(ctx, Finished | Failed):
        rig.turns(1)


def test_it_speaks_as_it_does_in_place(threaded):
    runner, in_place = threaded
    rig = Rig(runner)
    for ctx, text in TEXTS.items():
        rig.speak(ctx, text, seed=ctx)
    rig.run(*TEXTS)
    for ctx, expected in in_place.items():
        close(rig.pcm(ctx), expected)
    assert settled(runner)


def test_text_that_arrives_while_others_speak_is_spoken_as_if_it_had_been_there(threaded):
    runner, in_place = threaded
    parts, dice = ("I am", " here, and", " you?"), random.Random(3)
    solo = written(Rig(runner), 3, ("".join(parts),), seed=3).run(3)
    rig = Rig(runner)
    for ctx, text in TEXTS.items():
        rig.speak(ctx, text, seed=ctx)
    writer = Writer(rig, 3, seed=3)
    for part in parts:
        writer.write(part)
        rig.turns(dice.randrange(20))
    writer.end()
    rig.run(*TEXTS, 3)
    assert rig.begun[3].decoding.tokens == solo.begun[3].decoding.tokens != []
    close(rig.pcm(3), solo.pcm(3))
    for ctx, expected in in_place.items():
        close(rig.pcm(ctx), expected)
    assert settled(runner)


def test_who_waits_for_text_makes_room_and_goes_on_when_it_comes(threaded):
    runner, _ = threaded
    text, flow = "I am here, and you are there with me", runner._speech.models.flow
    solo = written(Rig(runner), 3, (text, ", dear."), seed=3).run(3)
    send_voices_away(runner)
    short = alone(runner, "One.")
    rig = Rig(runner)
    writer = Writer(rig, 3, seed=3)
    writer.write(text)
    turns(rig, LATER)
    (live,) = rig.engine._live.values()
    assert live.context.starved
    hoard = flow.pool.take(flow.pool.free)
    rig.speak(1, "One.")
    rig.run(1)
    assert flow.host.used_bytes > 0  # its pages made room
    del hoard
    close(rig.pcm(1), short)
    writer.write(", dear.")
    writer.end()
    close(rig.run(3).pcm(3), solo.pcm(3))
    assert settled(runner)


def test_contexts_take_turns_with_pages_for_one_and_say_what_they_would(threaded):
    runner, in_place = threaded
    rig, dice, flow = Rig(runner), random.Random(4), runner._speech.models.flow
    send_voices_away(runner)
    alone(runner, "One.")
    longest_s = max(map(len, in_place.values())) // 24_000
    hoard = flow.pool.take(flow.pool.free - 2 - longest_s)
    for ctx, text in TEXTS.items():
        rig.speak(ctx, text, seed=ctx)
        rig.inbox.append(Park(ctx=ctx))
    moved = 0
    while left := [ctx for ctx in TEXTS if not rig.of(ctx, Finished | Failed)]:
        ctx = dice.choice(left)
        rig.inbox.append(Unpark(ctx=ctx))
        for_a_while(rig, ctx, dice.randrange(20, 80))
        rig.inbox.append(Park(ctx=ctx))
        rig.turns(1)
        idle(rig, ctx)
        moved += flow.host.used_bytes > 0
    del hoard
    assert moved > 0
    for ctx, expected in in_place.items():
        assert rig.of(ctx, Finished)
        close(rig.pcm(ctx), expected)
    assert flow.host.used_bytes == 0


def test_in_a_full_house_who_comes_when_one_has_gone_finds_its_slot(threaded):
    runner, _ = threaded
    rig, slots = Rig(runner), runner._speech.models.decoder.cache.slots
    for ctx in range(slots):
        rig.speak(ctx, TEXTS[1])
    for ctx in range(5):
        for_a_while(rig, ctx, 10)
        rig.cancel(ctx)
        while not rig.of(ctx, Released):
            rig.turns(1)
        rig.speak(slots + ctx, TEXTS[1])
    for_a_while(rig, slots, 20)
    assert not [each for each in rig.sent if isinstance(each, Failed)]
    for ctx in range(5, slots + 5):
        rig.cancel(ctx)
    while not all(rig.of(ctx, Released) for ctx in range(slots + 5)):
        rig.turns(1)
