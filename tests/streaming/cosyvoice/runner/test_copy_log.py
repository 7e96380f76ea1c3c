"""What is copied is told once it has come to its end, with whose it was."""

import time

import pytest
import torch

from streaming.runners.cosyvoice.copies import Copies
from streaming.runners.cosyvoice.copy_log import (
    NOTHING_KEPT,
    SAMPLES,
    TO_HOST,
    CopyLog,
    copy_log,
    host_mark,
)

CPU = torch.device("cpu")


class Stream:
    """Moments of a device that is ``done`` with so many of them."""

    def __init__(self):
        self.marks = 0
        self.done = 0

    def __call__(self):
        self.marks += 1
        number = self.marks
        return lambda: float(number) if number <= self.done else None


def test_a_copy_is_told_once_with_whose_it_was_and_how_much():
    log = copy_log(CPU)
    began_s = time.monotonic()
    with log.copying("flow", TO_HOST, (7,), 100):
        pass
    (copied,) = log.take()
    assert (copied.line, copied.way, copied.owners, copied.bytes) == ("flow", TO_HOST, (7,), 100)
    assert began_s <= copied.began_s <= copied.ended_s <= time.monotonic()
    assert log.take() == []


def test_one_that_is_under_way_is_told_later_and_holds_up_no_other():
    stream = Stream()
    log = CopyLog(stream)
    for owner in (1, 2):
        with log.copying("flow", TO_HOST, (owner,), 100):
            pass
    stream.done = 3
    assert [each.owners for each in log.take()] == [(1,)]
    stream.done = 4
    (second,) = log.take()
    assert (second.owners, second.began_s, second.ended_s) == ((2,), 3.0, 4.0)


def test_what_failed_was_no_copy():
    log = copy_log(CPU)
    with pytest.raises(MemoryError), log.copying("flow", TO_HOST, (1,), 100):
        raise MemoryError
    assert log.take() == []


def test_where_no_trace_is_written_nothing_is_kept():
    with NOTHING_KEPT.copying("flow", TO_HOST, (1,), 100):
        pass
    assert NOTHING_KEPT.take() == []


def test_samples_are_copied_for_the_contexts_of_a_step():
    log = CopyLog(host_mark)
    Copies(CPU, 4, log).fetch([torch.zeros(480), torch.zeros(20)], [3, 5])
    (copied,) = log.take()
    assert (copied.line, copied.owners, copied.bytes) == (SAMPLES, (3, 5), 2000)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA: events with times")
def test_on_a_gpu_it_lasts_as_long_as_the_device_takes():
    device = torch.device("cuda", 0)
    log = copy_log(device)
    slow = torch.randn(4096, 4096, device=device)
    with torch.cuda.stream(torch.cuda.Stream(device)), log.copying("flow", TO_HOST, (1,), 1):
        for _ in range(50):
            slow = (slow @ slow).clamp(-1, 1)
    torch.cuda.synchronize(device)
    (copied,) = log.take()
    assert 0.0 < copied.ended_s - copied.began_s < 10.0
    assert abs(copied.ended_s - time.monotonic()) < 1.0
