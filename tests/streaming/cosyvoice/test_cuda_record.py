"""How captures are begun and ended, with torch's own calls watched in place of a GPU."""

import threading

import pytest
import torch

from streaming.cosyvoice import capture
from streaming.cosyvoice.capture import Captured, CudaRecord, give_back, made_ready


class Stream:
    """A stream's name, and whom it waited for."""

    def __init__(self, name="aside"):
        self.name = name
        self.waited = []

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        del raised

    def wait_stream(self, other):
        self.waited.append(other.name)


class Graph:
    """As ``torch.cuda.CUDAGraph``; ``broken``: CUDA gave the capture up."""

    broken = False
    begun: list[tuple[str, str]]

    def capture_begin(self, pool, capture_error_mode):
        self.begun.append((pool, capture_error_mode))

    def capture_end(self):
        if self.broken:
            raise RuntimeError("operation failed due to a previous error during capture")

    def replay(self):
        """Nothing."""


@pytest.fixture
def cuda(monkeypatch):
    """What is called of torch, in order."""
    calls, pools = [], iter("abc")
    monkeypatch.setattr(Graph, "begun", [], raising=False)
    monkeypatch.setattr(Graph, "broken", False)
    default, own = Stream("default"), Stream("own")
    for name, answer in {
        "CUDAGraph": Graph,
        "Stream": Stream,
        "current_stream": lambda: own,
        "default_stream": lambda: default,
        "current_device": lambda: 0,
        "graph_pool_handle": lambda: next(pools),
        "stream": lambda stream: stream,
        "empty_cache": lambda: calls.append("empty_cache"),
        "synchronize": lambda: calls.append("synchronize"),
    }.items():
        monkeypatch.setattr(torch.cuda, name, answer)
    for name in ("_cuda_endAllocateToPool", "_cuda_releasePool"):
        monkeypatch.setattr(
            torch._C, name, lambda _, pool, name=name: calls.append((name, pool)), raising=False
        )
    return calls


def broken(record, work=lambda: None):
    Graph.broken = True
    with pytest.raises(RuntimeError) as told:
        record(work)
    Graph.broken = False
    return str(told.value)


def test_shapes_share_memory_and_nobody_waits_for_the_device(cuda):
    record = CudaRecord()
    record(lambda: None)
    record(lambda: None)
    assert Graph.begun == [("a", "thread_local")] * 2
    assert cuda == []


def test_the_default_stream_is_not_captured_but_waited_for(cuda, monkeypatch):
    del cuda
    entered = []
    monkeypatch.setattr(torch.cuda, "current_stream", torch.cuda.default_stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: entered.append(stream) or stream)
    CudaRecord()(lambda: None)
    assert [(stream.name, stream.waited) for stream in entered] == [("aside", ["default"])]


def test_after_a_capture_that_broke_torch_can_capture_again_in_other_memory(cuda):
    record = CudaRecord()
    record(lambda: None)
    assert "a previous error" in broken(record)
    assert cuda == [("_cuda_endAllocateToPool", "a"), ("_cuda_releasePool", "a")]
    record(lambda: None)
    assert [pool for pool, _ in Graph.begun] == ["a", "a", "b"]


def test_what_broke_it_is_told_not_what_followed(cuda):
    del cuda

    def work():
        raise RuntimeError("a question to the device")

    assert broken(CudaRecord(), work) == "a question to the device"


def test_where_torch_had_ended_it_nothing_is_ended_twice(cuda, monkeypatch):
    def ended(*_):
        raise RuntimeError("not currently recording")

    monkeypatch.setattr(torch._C, "_cuda_endAllocateToPool", ended, raising=False)
    broken(CudaRecord())
    assert cuda == []


def test_two_networks_are_not_captured_at_once_and_memory_is_given_back_between(cuda):
    del cuda
    busy, seen = threading.Event(), []

    def work():
        busy.set()
        thread.join(0.05)
        seen.append("captured")

    def other():
        busy.wait(10)
        give_back()
        seen.append("given back")

    thread = threading.Thread(target=other)
    thread.start()
    CudaRecord()(work)
    thread.join(10)
    assert seen == ["captured", "given back"]
    assert not capture._ALONE.locked()


@pytest.mark.parametrize("initialised", [True, False])
def test_when_a_model_rests_what_was_kept_for_products_and_pinned_goes_too(
    cuda, monkeypatch, initialised
):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: initialised)
    names = ("_cuda_clearCublasWorkspaces", "_host_emptyCache")
    for name in names:
        monkeypatch.setattr(torch._C, name, lambda name=name: cuda.append(name), raising=False)
    give_back(all_of_it=True)
    assert cuda == [*(names if initialised else ()), "empty_cache"]


def full(*_):
    raise torch.OutOfMemoryError("CUDA out of memory.\nTry")


def test_a_shape_that_memory_does_not_hold_now_is_captured_once_it_does():
    tries = iter([full, lambda work: work])

    def record(work):
        return next(tries)(work)

    captured = Captured("some", lambda given: given, record)
    given = [torch.ones(2)]
    with pytest.raises(torch.OutOfMemoryError):
        captured("a", given)
    assert torch.equal(captured("a", given)[0], given[0])


def test_a_start_with_too_little_memory_for_some_shapes_has_the_others(cuda, caplog):
    done = []
    ready = made_ready("some", [9, 4, 1], lambda shape: full() if shape > 5 else done.append(shape))
    assert (ready, done) == (2, [4, 1])
    assert "some steps of shape 9 find no memory: CUDA out of memory." in caplog.text
    assert cuda == ["empty_cache"]
