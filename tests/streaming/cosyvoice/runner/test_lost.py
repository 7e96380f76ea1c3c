"""A device that fails for good ends the engine, whose contexts are then told to try again."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest
import torch

from streaming.runners.cosyvoice.lost import DeviceLost, lost
from streaming.runners.cosyvoice.speech import Speech
from streaming.runners.cosyvoice.together import together

ILLEGAL = "CUDA error: an illegal memory access was encountered"


@pytest.fixture
def card(monkeypatch):
    """``card(dead)``: what the device answers from now on."""

    def answer(dead):
        def synchronize():
            if dead:
                raise torch.AcceleratorError(ILLEGAL)

        stream = SimpleNamespace(synchronize=synchronize)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)

    return answer


def test_an_error_after_which_nothing_works_is_told_from_one_of_a_step(card):
    card(dead=True)
    assert lost(torch.AcceleratorError(ILLEGAL))
    assert not lost(RuntimeError("shapes do not match"))
    card(dead=False)
    assert not lost(torch.AcceleratorError("CUDA error: invalid configuration argument"))


def test_a_batch_on_a_lost_device_is_nobodys_fault_and_not_tried_again(card):
    card(dead=True)
    tried = []

    def compute(rows):
        tried.append(len(rows))
        raise torch.AcceleratorError(ILLEGAL)

    with pytest.raises(torch.AcceleratorError):
        together([SimpleNamespace(ctx=1), SimpleNamespace(ctx=2)], compute)
    assert tried == [2]


def test_once_it_is_lost_neither_a_step_nor_a_sign_of_life_comes_about(runner, card):
    speech = Speech(runner._speech.models, runner._settings)
    made: Future[None] = Future()
    made.add_done_callback(speech._notice)
    card(dead=True)
    made.set_exception(torch.AcceleratorError(ILLEGAL))
    for ask in (speech.figures, lambda: speech.step("flow", [])):
        with pytest.raises(DeviceLost, match="the device is lost: CUDA error: an illegal"):
            ask()
    assert not issubclass(DeviceLost, Exception)  # which the loop would take for a step's


def test_a_step_that_fails_alone_loses_nothing(runner, card):
    speech = Speech(runner._speech.models, runner._settings)
    made: Future[None] = Future()
    made.add_done_callback(speech._notice)
    card(dead=False)
    made.set_exception(torch.AcceleratorError("CUDA error: invalid configuration argument"))
    assert speech.figures()
