"""Steps that go on beside the loop: the loop over a runner that answers later."""

from concurrent.futures import Future

import numpy as np
import pytest
from loop_bench import Mailbox
from making import segment

from streaming.clock import ManualClock
from streaming.config import EngineSettings
from streaming.engine.loop import Engine
from streaming.errors import UnsupportedLanguage
from streaming.messages import Audio, Cancel, End, Failed, Finished, Open, Released, Speak
from streaming.runners.base import SPEECH, Later, Made
from streaming.runners.tone import ToneRunner
from streaming.steps import Stage, Want

SLOW, QUICK = "tone-b", "tone-a"


class LateRunner(ToneRunner):
    """One voice has a stage of its own, every step of which is answered when the test says so."""

    stages = (Stage(SPEECH), Stage(SLOW))

    def __init__(self, settings):
        super().__init__(settings)
        self.futures = []
        self.released = []

    def wants(self, work, _costs):
        return [Want(SLOW if work.voice == SLOW else SPEECH)]

    def step(self, stage, batch):
        if stage != SLOW:
            return super().step(stage, batch)
        self.futures.append(Future())
        return Later(self.futures[-1])

    def release(self, state):
        self.released.append(state)


class Rig:
    def __init__(self):
        settings = EngineSettings(runner="tone", hang_timeout_s=15.0)
        self.clock, self.mailbox = ManualClock(), Mailbox()
        self.runner = LateRunner(settings)
        self.engine = Engine(self.runner, settings, self.mailbox, self.clock)

    def speak(self, ctx, voice):
        spoken = segment("Hello.")
        self.mailbox.inbox += [
            Open(ctx=ctx, voice=voice),
            Speak(ctx=ctx, segment=spoken),
            End(ctx=ctx),
        ]

    def turns(self, count=1):
        for _ in range(count):
            self.engine.turn()

    def of(self, kind, ctx):
        return [m for m in self.mailbox.sent if isinstance(m, kind) and m.ctx == ctx]


@pytest.fixture
def rig():
    return Rig()


def made():
    return Made(np.full(4_800, 0.1, np.float32), done=True)


def test_others_speak_while_a_step_goes_on(rig):
    rig.speak(1, SLOW)
    rig.speak(2, QUICK)
    rig.turns(12)
    assert rig.of(Finished, 2)
    assert not rig.of(Audio, 1)
    assert len(rig.runner.futures) == 1


def test_its_end_wakes_the_loop_and_its_audio_is_published(rig):
    rig.speak(1, SLOW)
    rig.turns(3)
    assert rig.mailbox.rests[-1] > 0  # nothing else to do: it sleeps
    rig.clock.advance(0.3)
    rig.runner.futures[0].set_result([made()])
    assert rig.mailbox.woken.is_set()
    rig.turns()
    assert rig.of(Audio, 1)
    assert rig.of(Finished, 1)[0].compute_s == pytest.approx(0.3)


def test_a_stage_makes_one_step_at_a_time_in_the_order_of_need(rig):
    for ctx in (1, 2, 3):
        rig.speak(ctx, SLOW)
    rig.turns(4)
    assert len(rig.runner.futures) == 1
    rig.runner.futures[0].set_result([made()])
    rig.turns(2)
    assert len(rig.runner.futures) == 2
    assert rig.of(Finished, 1)
    assert not rig.of(Audio, 2)


def test_a_cancel_is_answered_once_its_step_has_ended_and_what_that_made_is_dropped(rig):
    rig.speak(1, SLOW)
    rig.turns(2)
    rig.mailbox.inbox.append(Cancel(ctx=1))
    rig.turns()
    assert not rig.of(Released, 1)
    assert not rig.runner.released  # the step still reads what the state holds
    rig.runner.futures[0].set_result([made()])
    rig.speak(2, SLOW)
    rig.turns(2)
    assert not rig.of(Audio, 1)
    assert rig.of(Released, 1)
    assert len(rig.runner.released) == 1
    assert len(rig.runner.futures) == 2  # and the stage is free again


@pytest.mark.parametrize("raised", [True, False])
def test_a_step_that_fails_ends_its_context_alone(rig, raised):
    rig.speak(1, SLOW)
    rig.turns(2)
    error = UnsupportedLanguage("no voice for it")
    if raised:
        rig.runner.futures[0].set_exception(error)
    else:
        rig.runner.futures[0].set_result([error])
    rig.speak(2, QUICK)
    rig.turns(12)
    assert rig.of(Failed, 1)[0].code == "unsupported_language"
    assert rig.of(Finished, 2)


def test_a_step_without_end_ends_the_process_so_that_it_is_started_again(rig):
    rig.speak(1, SLOW)
    rig.turns(2)
    rig.clock.advance(16.0)
    with pytest.raises(TimeoutError, match="tone-b"):
        rig.turns()
