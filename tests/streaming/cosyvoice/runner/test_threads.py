"""Places: what is given to one is done in order, and one stage waits for none but itself."""

import contextlib
import threading

import pytest
import torch

from streaming.runners.cosyvoice.threads import FIRST, LAST, Inline, StreamThread, places

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)
STAGES = {"llm": FIRST, "flow": LAST, "vocoder": FIRST}
A_WHILE_S = 10


class NullStream:
    """Stands where a device's would: tells who entered it, and how often it was waited for."""

    def __init__(self, *of):
        self.priority = of[-1] if of else None
        self.threads = set()
        self.waited = 0

    @contextlib.contextmanager
    def entered(self):
        self.threads.add(threading.current_thread().name)
        yield

    def mark(self):
        return self.wait

    def wait(self):
        self.waited += 1


@pytest.fixture
def made():
    """``made(streams)``: places as on a GPU, closed at the end."""
    with contextlib.ExitStack() as closing:

        def make(streams):
            found = places(CUDA, STAGES, streams, NullStream)
            for place in found.values():
                closing.callback(place.close)
            return found

        yield make


@pytest.mark.parametrize("streams", [1, 4])
def test_on_a_cpu_all_is_done_in_place_whatever_was_asked_for(streams):
    found = places(CPU, STAGES, streams)
    assert len(set(map(id, found.values()))) == 1
    assert found["llm"].run(threading.current_thread).result(0) is threading.current_thread()


def test_with_four_each_stage_has_a_thread_and_a_stream_of_its_priority(made):
    found = made(4)
    names = {name: place.run(threading.current_thread).result(A_WHILE_S).name
             for name, place in found.items()}  # fmt: skip
    assert len(set(names.values())) == 3
    streams = {name: place._stream for name, place in found.items()}
    assert {name: stream.priority for name, stream in streams.items()} == STAGES
    assert {name: stream.threads for name, stream in streams.items()} == {
        name: {thread} for name, thread in names.items()
    }


def test_with_one_all_stages_take_turns(made):
    found, order = made(1), []
    first = threading.Event()

    def wait():
        assert first.wait(A_WHILE_S)
        order.append("flow")

    running = [found["flow"].run(wait)]
    running += [
        found[name].run(lambda name=name: order.append(name)) for name in ("llm", "vocoder")
    ]
    first.set()
    for each in running:
        each.result(A_WHILE_S)
    assert order == ["flow", "llm", "vocoder"]
    assert len({id(place._stream) for place in found.values()}) == 1


def test_with_four_a_stage_that_takes_long_holds_up_none_but_itself(made):
    found = made(4)
    end = threading.Event()
    long = found["flow"].run(lambda: end.wait(A_WHILE_S))
    behind = found["flow"].run(lambda: None)
    assert found["llm"].run(lambda: "done").result(A_WHILE_S) == "done"
    assert not long.done()
    assert not behind.done()
    end.set()
    behind.result(A_WHILE_S)
    assert long.done()


@pytest.mark.parametrize("streams", [1, 4])
def test_a_step_is_done_once_its_stream_was_waited_for(made, streams):
    place = made(streams)["llm"]
    before = place._stream.waited
    place.run(lambda: None).result(A_WHILE_S)
    assert place._stream.waited == before + 1


@pytest.mark.parametrize("make", [Inline, lambda: StreamThread("test", NullStream())])
def test_what_is_given_to_a_place_is_done_in_order_and_what_it_raises_is_told(make):
    place, order = make(), []

    def fail():
        order.append("raised")
        raise ValueError("a fault")

    given = [
        place.run(lambda: order.append(1)),
        place.run(fail),
        place.run(lambda: order.append(2)),
    ]
    given[2].result(A_WHILE_S)
    with pytest.raises(ValueError, match="a fault"):
        given[1].result(A_WHILE_S)
    place.close()
    assert order == [1, "raised", 2]


def test_a_step_is_launched_while_the_one_before_it_is_computed():
    stream, computed = NullStream(), threading.Event()
    stream.wait = lambda: computed.wait(A_WHILE_S)
    place = StreamThread("test", stream)
    first, launched = place.run(lambda: "first"), threading.Event()
    second = place.run(launched.set)
    assert launched.wait(A_WHILE_S)
    assert not first.done()
    computed.set()
    assert first.result(A_WHILE_S) == "first"
    second.result(A_WHILE_S)
    place.close()


def test_what_fails_on_the_device_is_told_to_its_own_step():
    stream = NullStream()
    place = StreamThread("test", stream)

    def fail():
        raise RuntimeError("the device is gone")

    stream.wait = fail
    with pytest.raises(RuntimeError, match="the device is gone"):
        place.run(lambda: None).result(A_WHILE_S)
    stream.wait = lambda: None
    assert place.run(lambda: "next").result(A_WHILE_S) == "next"
    place.close()


@pytest.mark.cuda
@pytest.mark.parametrize("streams", [1, 4])
def test_on_a_gpu_nothing_runs_on_the_default_stream(streams):
    found = places(CUDA, STAGES, streams)
    used = {place.run(torch.cuda.current_stream).result(A_WHILE_S) for place in found.values()}
    for place in found.values():
        place.close()
    assert torch.cuda.default_stream() not in used
    assert len(used) == (1 if streams == 1 else 3)
