"""Networks on a GPU say what they say on a CPU, captured and replayed, whatever else it does.

What can also run without a GPU does so in its place, on a tape.
"""

import logging
import threading
from functools import partial
from importlib import import_module

import plain_kernels
import pytest
import torch
from capturing import tape
from tiny_steps import GENERATIONS, flow_module, vocoder

from streaming.cosyvoice.capture import Captured, CudaRecord, give_back
from streaming.cosyvoice.flow.attention import Gathered, InPlace
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.batch import Shapes
from streaming.cosyvoice.flow.build import network
from streaming.cosyvoice.flow.graphs import Graphs
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.kernel_check import NEAR, failure
from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, LOOKAHEAD_TOKENS, MEL_BANDS, LlmSizes
from streaming.cosyvoice.vocoder import graphs as vocoder_graphs
from streaming.cosyvoice.vocoder.shapes import Shapes as VocoderShapes

CPU = torch.device("cpu")
A_WHILE_S = 60


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request):
    return torch.device(request.param)


@pytest.fixture
def record(device):
    return CudaRecord() if device.type == "cuda" else tape


@pytest.fixture(params=["gathered", "in place"])
def kernels(request, device):
    """Those of attention in place, where it is: on a GPU the real ones."""
    if request.param == "gathered":
        return None
    return plain_kernels if device.type == "cpu" else import_module("streaming.cosyvoice.kernels")


@pytest.fixture(params=GENERATIONS)
def generation(request):
    return request.param


@pytest.fixture(autouse=True)
def all_is_captured(caplog, request):
    """Whatever could not be is a warning."""
    with caplog.at_level(logging.WARNING):
        yield
    if "broken" not in request.node.name:
        assert "not captured" not in caplog.text


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", NEAR, ids=str)
def test_the_kernels_of_attention_in_place_compute_what_torch_does(dtype):
    real = import_module("streaming.cosyvoice.kernels")
    assert failure(real, torch.device("cuda"), dtype) is None


def drawn(decoder):
    """Tokens of two contexts, one a few steps behind."""
    prompt = LlmPrompt((END_OF_PROMPT, *range(1, 60)), tuple(range(40)))
    first = decoder.begin(prompt, (1, 2, 3, 4), seed=1, segment=0)
    for _ in range(5):
        decoder.step([first])
    second = decoder.begin(prompt, (5, 6, 7), seed=2, segment=1, prefix=decoder.prefix_of(first))
    for _ in range(30):
        decoder.step([first, second])
    tokens = first.tokens[:25], second.tokens[:25]
    decoder.release(first)
    decoder.release(second)
    return tokens


def test_a_language_model_draws_the_same(generation, device, record, kernels):
    sizes = LlmSizes(generation, hidden=32, feed_forward=64, layers=2, heads=4, kv_heads=2)
    torch.manual_seed(1)
    plain = SpeechLlm(sizes).eval()
    there = SpeechLlm(sizes).eval()
    there.load_state_dict(plain.state_dict())
    captured = Decoder(
        there.to(device), slots=3, positions=600, prefill_tokens=32, record=record, kernels=kernels
    )
    if device.type == "cuda":  # on a tape all of them would take long
        captured.warm(4)
    expected = drawn(Decoder(plain, slots=3, positions=600, prefill_tokens=32))
    assert drawn(captured) == expected
    assert all(len(tokens) > 10 for tokens in expected)


def said(flow):
    """Two hops of two contexts; the pages of one are away in between."""
    numbers = torch.Generator().manual_seed(3)
    mel, speaker = torch.randn(120, MEL_BANDS, generator=numbers), torch.randn(192)
    prompt = FlowPrompt(tuple(range(60)), mel, torch.ones_like(speaker))
    states = [flow.begin(flow.voice(prompt, first_hop_tokens=8)) for _ in range(2)]
    mels = []
    for last in (False, True):
        hops = []
        for state in states:
            new = 9 if last else flow.next_hop(state) + LOOKAHEAD_TOKENS
            hops.append(flow.start(state, list(range(100, 100 + new)), last=last))
        flow.euler(hops[:1])
        while left := [hop for hop in hops if not hop.done]:
            flow.euler(left)
        mels += [hop.mel.cpu() for hop in hops]
        states = [flow.to_device(flow.to_host(hops[0].state)), hops[1].state]
    return mels


@pytest.mark.parametrize(("dtype", "apart"), [(torch.float32, 1e-4), (torch.bfloat16, 0.3)])
def test_a_flow_says_the_same(generation, device, record, kernels, dtype, apart):
    few, model = Shapes((1, 2, 4), (2, 4, 6)), flow_module(generation)
    way = partial(InPlace, kernels=kernels) if kernels else Gathered
    room = {"budget_bytes": 1 << 26, "host_bytes": 1 << 26}
    captured = Flow(
        network(model, device, dtype, way=way),
        shapes=few,
        wrap=lambda advance: Graphs(advance, record, few),
        **room,
    )
    captured.warm(4, 6)
    plain = Flow(network(model, CPU, torch.float32), **room)
    for one, other in zip(said(captured), said(plain), strict=True):
        torch.testing.assert_close(one, other, atol=apart, rtol=0)


def sung(network, device):
    """Streams of several lengths, in three steps."""
    numbers = torch.Generator().manual_seed(3)
    mels = [torch.randn(frames, MEL_BANDS, generator=numbers) for frames in (60, 45, 41)]
    states, heard = [network.begin(seed) for seed in range(3)], [[], [], []]
    for hop in range(3):
        rows = [
            (state, mel[hop * 20 : hop * 20 + 20].to(device), hop * 20 + 20 >= len(mel))
            for state, mel in zip(states, mels, strict=True)
        ]
        made = network.step(rows)
        states = [state for _, state in made]
        for parts, (samples, _) in zip(heard, made, strict=True):
            parts.append(samples.cpu())
    return [torch.cat(parts) for parts in heard]


def test_a_vocoder_sounds_the_same(generation, device, record):
    plain, there = vocoder(generation).fuse(), vocoder(generation).to(device).fuse()
    there.launch(
        VocoderShapes((1, 2, 4), (16, 32, 64)),
        lambda advance: vocoder_graphs.Graphs(advance, record),
    )
    there.warm(4)
    for one, other in zip(sung(there, device), sung(plain, CPU), strict=True):
        torch.testing.assert_close(one, other, atol=1e-3, rtol=0)


def test_captures_beside_others_who_compute_allocate_pin_capture_and_give_back(device, record):
    """What stages and the watch over memory do in their own threads, all at once."""
    stop, failed = threading.Event(), []

    def beside(work):
        def run():
            try:
                with on_own_stream(device):
                    while not stop.is_set():
                        work()
            except Exception as error:  # noqa: BLE001 - told in the test's own thread
                failed.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def computes():
        given = torch.randn(300, 300)
        given = given.pin_memory() if device.type == "cuda" else given
        (given.to(device, non_blocking=True) @ torch.ones(300, 300, device=device)).cpu()

    other = CudaRecord() if device.type == "cuda" else tape
    shapes = iter(range(1, 1 << 30))

    def captures():
        size = next(shapes) % 50 + 1
        Captured("other", doubled, other)(size, [torch.ones(size, device=device)])

    threads = [beside(work) for work in (computes, captures, give_back)]
    try:
        with on_own_stream(device):
            captured = Captured("some", doubled, record)
            for size in [*range(1, 40), *range(1, 40)]:
                given = [torch.full((size, 1000), float(size), device=device)]
                assert torch.equal(captured(size, given)[0].cpu(), doubled(given)[0].cpu())
    finally:
        stop.set()
        for thread in threads:
            thread.join(A_WHILE_S)
    assert failed == []


def doubled(given):
    return ((given[0] + 1) * 2 - 2,)


def on_own_stream(device):
    """Where there are streams."""
    return torch.cuda.stream(torch.cuda.Stream() if device.type == "cuda" else None)


@pytest.mark.cuda
def test_a_broken_capture_harms_nobody():
    device, record = torch.device("cuda"), CudaRecord()
    asks = Captured("some", lambda given: (given[0] * float(given[0][0]),), record)
    with on_own_stream(device):
        for value in (2.0, 3.0):
            assert asks("a", [torch.full((4,), value, device=device)])[0][0].item() == value**2
        held = torch.cuda.memory_allocated()
        crossing = torch.ones(1 << 20, device=device)
        crossing.record_stream(torch.cuda.default_stream())
        del crossing
        torch.cuda.synchronize()
        captured = Captured("other", doubled, record)
        assert torch.equal(
            captured("a", [torch.ones(4, device=device)])[0].cpu(), torch.ones(4) * 2
        )
        torch.ones(1, device=device)  # now torch looks at what has become free
        assert torch.cuda.memory_allocated() < held + (1 << 20)


@pytest.mark.cuda
def test_memory_that_ends_in_a_capture_harms_nobody():
    device, record = torch.device("cuda"), CudaRecord()

    def greedy(given):
        if torch.cuda.is_current_stream_capturing():
            torch.empty(1 << 45, device=device)
        return doubled(given)

    with on_own_stream(device):
        with pytest.raises(torch.OutOfMemoryError):
            Captured("some", greedy, record)("a", [torch.ones(4, device=device)])
        captured = Captured("other", doubled, record)
        for value in (1.0, 2.0):
            given = [torch.full((4,), value, device=device)]
            assert torch.equal(captured("a", given)[0], doubled(given)[0])
