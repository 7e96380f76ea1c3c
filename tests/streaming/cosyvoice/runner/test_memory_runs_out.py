"""Memory runs out somewhere: the newest context is told to come again, the others never notice."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
import torch
from cosyvoice_rig import ENGLISH, MANDARIN, Rig, alone, send_voices_away, settled

from streaming.cosyvoice.flow import host as host_module
from streaming.messages import Cancel, Failed, Finished, Park, Unpark
from streaming.runners.cosyvoice.together import out_of_memory

pytestmark = pytest.mark.parametrize("generation", ["cosyvoice3"], indirect=True)
"""Where the networks do not matter."""

TEXTS = {1: "One.", 2: "Two.", 3: "Six."}
LONG = "Long enough to take three pages."


def full():
    """What torch raises; anew each time, since it holds on to where it was raised."""
    return torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nMore of it.")


def cannot_allocate():
    return RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried")


@pytest.fixture(autouse=True)
def nothing_is_left(runner):
    yield
    assert settled(runner)
    send_voices_away(runner)
    assert settled(runner)


@pytest.fixture
def expected(runner):
    """What each context says alone."""
    return {ctx: alone(runner, text, seed=ctx) for ctx, text in TEXTS.items()}


class Fault:
    """The calls of a function of which some raise: by their number, or the first that is such."""

    def __init__(self, call, at, error=full):
        self._call, self._at, self._error = call, at, error
        self.calls = self.raised = 0

    def __call__(self, *arguments, **options):
        self.calls += 1
        such = self._at
        if (not self.raised and such(*arguments)) if callable(such) else self.calls in such:
            self.raised += 1
            raise self._error()
        return self._call(*arguments, **options)


@contextmanager
def broken(owner, name, at, error=full):
    call = getattr(owner, name)
    own = name in vars(owner)
    fault = Fault(call, at, error)
    setattr(owner, name, fault)
    try:
        yield fault
    finally:
        if own:
            setattr(owner, name, call)
        else:
            delattr(owner, name)


def together(runner):
    rig = Rig(runner)
    for ctx, text in TEXTS.items():
        rig.speak(ctx, text, seed=ctx)
    return rig.run(*TEXTS)


def refused(rig):
    """Who failed; each must have been told that it may try again."""
    failed = [each for ctx in TEXTS for each in rig.of(ctx, Failed)]
    assert all((each.code, each.retryable) == ("overloaded", True) for each in failed)
    return [each.ctx for each in failed]


def alike(rig, expected, *contexts):
    for ctx in contexts:
        assert rig.of(ctx, Finished), rig.of(ctx, Failed)
        assert len(rig.pcm(ctx)) == len(expected[ctx])
        assert np.abs(rig.pcm(ctx) - expected[ctx]).max() <= 4


SITES = {
    "a slot's beginning": ("decoder", "begin", 1),
    "a slot's beginning, for the second": ("decoder", "begin", 2),
    "a step of the LLM": ("decoder", "_advance", 3),
    "a prompt in the flow": ("flow", "prepare", 1),
    "a hop": ("flow", "start", 1),
    "a later hop": ("flow", "start", lambda state, _: state.tokens_done > 0),
    "an Euler step of a prompt": ("flow", "euler", 2),
    "an Euler step of a hop": ("flow", "euler", 15),
    "a step of the vocoder": ("vocoder", "step", 1),
    "the last step of the vocoder": ("vocoder", "step", lambda rows: any(row[2] for row in rows)),
}


@pytest.mark.parametrize(("part", "name", "at"), SITES.values(), ids=SITES)
def test_the_newest_comes_again_and_the_others_say_what_they_would(
    runner, expected, part, name, at
):
    send_voices_away(runner)
    when = at if callable(at) else {at}
    with broken(getattr(runner._speech.models, part), name, when) as fault:
        rig = together(runner)
    assert fault.raised == 1
    assert refused(rig) == [3]
    alike(rig, expected, 1, 2)
    again = Rig(runner)
    again.speak(3, TEXTS[3], seed=3)
    alike(again.run(3), expected, 3)


def test_one_after_the_other_until_the_rest_fits(runner, expected, monkeypatch):
    rig, step = Rig(runner), runner._speech.models.vocoder.step

    def small(rows):
        if len(refused(rig)) < 2:
            raise full()
        return step(rows)

    monkeypatch.setattr(runner._speech.models.vocoder, "step", small)
    for ctx, text in TEXTS.items():
        rig.speak(ctx, text, seed=ctx)
    rig.run(*TEXTS)
    assert refused(rig) == [2, 3]
    alike(rig, expected, 1)


def test_samples_that_find_no_room_on_their_way_to_the_host(runner, expected):
    with broken(runner._speech._vocoder._copies, "fetch", {1}):
        rig = together(runner)
    assert refused(rig) == [3]
    alike(rig, expected, 1, 2)


def test_a_beginning_that_cannot_be_kept_harms_nobody(runner, expected):
    send_voices_away(runner)
    with broken(runner._speech.models.decoder.cache, "keep", {1}) as fault:
        rig = together(runner)
    assert fault.raised == 1
    assert refused(rig) == []
    alike(rig, expected, *TEXTS)


class TestVoicesOnTheirWay:
    def test_one_that_finds_no_room_to_come_back_comes_later(self, runner, expected):
        send_voices_away(runner, from_host=False)
        with broken(runner._speech.models.flow.host, "restore", {1}):
            rig = together(runner)
        assert refused(rig) == [3]
        alike(rig, expected, 1, 2)

    def test_without_room_for_its_beginning_that_is_computed_again(
        self, runner, expected, monkeypatch
    ):
        send_voices_away(runner, from_host=False)
        part = runner._speech.voices._by_id[ENGLISH]
        away = {prompt: Stuck(each) for prompt, each in part.prefixes._away.items()}
        assert away
        monkeypatch.setattr(part.prefixes, "_away", away)
        rig = together(runner)
        assert refused(rig) == []
        alike(rig, expected, *TEXTS)

    @pytest.mark.parametrize("error", [full, cannot_allocate, MemoryError])
    def test_one_for_which_the_host_has_no_room_is_made_again(
        self, runner, expected, monkeypatch, error
    ):
        if error is full:
            monkeypatch.setattr(torch.Tensor, "copy_", Fault(torch.Tensor.copy_, {1}, error))
        else:
            monkeypatch.setattr(host_module.torch, "empty", Fault(torch.empty, {1}, error))
        assert runner._speech.voices.pages.free() > 0
        monkeypatch.undo()
        assert runner._speech.voices._by_id[ENGLISH].flow.away is None
        assert runner._speech.models.flow.host.used_bytes == runner._speech.voices.host_bytes
        alike(together(runner), expected, *TEXTS)

    def test_a_voice_that_cannot_be_read_for_want_of_memory_fails_those_who_wait_for_it(
        self, runner, expected
    ):
        runner.forget_voice(MANDARIN)
        with broken(runner._speech.voices._reader, "read", {1}, MemoryError):
            rig = Rig(runner)
            for ctx in (1, 2):
                rig.speak(ctx, TEXTS[ctx], seed=ctx)
            rig.speak(3, "One.", voice=MANDARIN)
            rig.run(1, 2, 3)
        (failed,) = rig.of(3, Failed)
        assert failed.retryable
        alike(rig, expected, 1, 2)
        assert len(alone(runner, "One.", voice=MANDARIN)) > 0


class Stuck:
    """A beginning on the host that finds no room on the device."""

    def __init__(self, away):
        self.away = away.away

    def back(self):
        raise full()


class TestContextsThatWait:
    def parked(self, runner):
        """The first, which is away in the midst of its speech."""
        rig = Rig(runner)
        rig.speak(1, LONG, seed=1)
        for _ in range(5000):
            live = rig.engine._live.get(1)
            row = None if live is None or live.work is None else live.work.state
            if row is not None and row.flow is not None and row.flow.kept and row.hop is None:
                break
            rig.turns(1)
        rig.inbox.append(Park(ctx=1))
        rig.turns(1)
        return rig

    def test_where_it_cannot_be_copied_the_newest_is_refused(self, runner, monkeypatch):
        expected = alone(runner, LONG, seed=1)
        rig, pool = self.parked(runner), runner._speech.models.flow.pool
        hoard = pool.take(pool.free)
        nothing = Fault(torch.empty, range(1000), MemoryError)
        monkeypatch.setattr(host_module.torch, "empty", nothing)
        rig.speak(2, "Two.", seed=2)
        rig.run(2)
        monkeypatch.undo()
        assert [each.code for each in rig.of(2, Failed)] == ["overloaded"]
        del hoard
        rig.inbox.append(Unpark(ctx=1))
        rig.run(1)
        assert np.abs(rig.pcm(1) - expected).max() <= 4

    def test_one_that_finds_no_room_to_come_back_tries_again(self, runner):
        expected = alone(runner, LONG, seed=1)
        rig, flow = self.parked(runner), runner._speech.models.flow
        hoard = flow.pool.take(flow.pool.free)
        assert runner._speech._parking.make_room() > 0
        del hoard
        rig.speak(2, "Two.", seed=2, end=False)
        rig.turns(2)
        rig.inbox.append(Unpark(ctx=1))
        with broken(flow.host, "restore", {1}):
            rig.run(1)
        assert np.abs(rig.pcm(1) - expected).max() <= 4
        assert [each.code for each in rig.of(2, Failed)] == ["overloaded"]
        rig.inbox.append(Cancel(ctx=2))
        rig.turns(1)


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (full(), True),
        (MemoryError(), True),
        (cannot_allocate(), True),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_counts_as_memory_that_ran_out(error, is_one):
    assert out_of_memory(error) is is_one
