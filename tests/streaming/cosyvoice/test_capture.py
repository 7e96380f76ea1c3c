"""Recording and replaying steps, and the two instruments that stand in for a GPU."""

import logging

import pytest
import torch
from capturing import ELSEWHERE, Refused, Watched, tape

from streaming.cosyvoice.capture import Captured, CudaRecord


def doubled(given):
    return given[0] * 2 + given[1][0], given[1].flip(0)


def some(value, count=3):
    return torch.full((count,), float(value)), torch.arange(2.0) + value


def test_a_replay_gives_what_the_step_gives():
    captured = Captured("some", doubled, tape)
    for value in (1, 2, 3):
        for made, wanted in zip(captured("a", some(value)), doubled(some(value)), strict=True):
            assert torch.equal(made, wanted)


def test_results_outlive_the_next_replay_and_what_was_given_is_left_as_it_was():
    captured = Captured("some", doubled, tape)
    given = some(1)
    first, _ = captured("a", given)
    captured("a", some(5))
    assert torch.equal(first, doubled(some(1))[0])
    assert torch.equal(given[0], some(1)[0])


def test_each_shape_is_recorded_once():
    recorded = []

    def record(work):
        recorded.append(1)
        return tape(work)

    captured = Captured("some", doubled, record)
    for count in (3, 4, 3, 4):
        assert captured(count, some(1, count))[0].shape == (count,)
    assert len(recorded) == 2


def test_all_shapes_stay_in_the_same_place_and_none_is_heard_in_another():
    captured = Captured("some", doubled, tape)
    for turn in range(2):
        for count in (2, 5, 4, 1, 5, 2):
            given = some(10 * turn + count, count)
            for made, wanted in zip(captured(count, given), doubled(given), strict=True):
                assert torch.equal(made, wanted)
    places = {kept.given[0].data_ptr() for count, kept in captured._kept.items() if count != 2}
    assert len(places) == 1  # two came before the largest


def test_what_cannot_be_captured_runs_as_it_is_and_that_is_said_once(caplog):
    def record(_work):
        raise RuntimeError("operation not permitted when stream is capturing")

    captured = Captured("some", doubled, record)
    with caplog.at_level(logging.WARNING):
        for value in (1, 2):
            assert torch.equal(captured("a", some(value))[0], doubled(some(value))[0])
    (said,) = caplog.messages
    assert "some steps of shape a are not captured: operation not permitted" in said


def test_a_replay_remembers_what_the_host_knew():
    """Why steps must not ask it: here it is wrong, and the tape shows it."""
    captured = Captured("some", lambda given: (given[0] * float(given[0][0]),), tape)
    captured("a", [torch.ones(2)])
    assert captured("a", [torch.full((2,), 3.0)])[0].tolist() == [3.0, 3.0]  # not nine


@pytest.mark.cuda
@pytest.mark.parametrize("own_stream", [True, False])
def test_on_cuda_a_replay_gives_what_the_step_gives(own_stream):
    device = torch.device("cuda")
    captured = Captured("some", doubled, CudaRecord())
    stream = torch.cuda.Stream() if own_stream else torch.cuda.default_stream()
    with torch.cuda.stream(stream):
        for value in (1, 2, 3):
            given = [each.to(device) for each in some(value)]
            assert torch.equal(captured("a", given)[0], doubled(given)[0])


REFUSED = {
    "a number read back": lambda x: x.sum().item(),
    "numbers read back": lambda x: x.tolist(),
    "a question": lambda x: 1 if (x > 0).any() else 0,
    "a mask as an index": lambda x: x[x > 0],
    "a mask to write by": lambda x: x.clone().__setitem__(x > 0, torch.zeros(1, device=x.device)),
    "places of what is true": lambda x: (x > 0).nonzero(),
    "numbers of the host": lambda x: x + torch.tensor([1.0, 2.0, 3.0]).to(x.device),
    "a table of the host": lambda x: x[torch.tensor([0, 1])],
    "a copy to the host": lambda x: x.cpu(),
    "random numbers": lambda x: x + torch.randn_like(x),
    "a Fourier transform of cuFFT": torch.fft.rfft,
    "counts that are data": lambda x: torch.repeat_interleave(x, x.long()),
}


@pytest.mark.parametrize("what", REFUSED)
def test_the_watch_refuses(what):
    x = torch.empty(3, device=ELSEWHERE)
    with pytest.raises((Refused, RuntimeError, NotImplementedError)), Watched(), torch.no_grad():
        REFUSED[what](x)


def test_the_watch_lets_pass_what_a_capture_takes():
    x = torch.empty(3, device=ELSEWHERE)
    at = torch.empty(2, device=ELSEWHERE, dtype=torch.int64)
    with Watched() as watched, torch.no_grad():
        x[at] = x[at] + torch.arange(2, device=x.device)
        torch.where(x > 0, x, 0.0).masked_fill(x > 1, 2.0)
    assert watched.seen > 5
