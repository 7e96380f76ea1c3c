"""Every network's step as a GPU captures it: nothing asked of the host, nothing remembered.

On ``meta`` a tensor has no numbers, so a step that comes through has read none; on a tape it is
run again with other rows, so a step that is right then has kept none.
"""

import plain_kernels
import pytest
import torch
from capturing import Watched, tape
from plain_kernels import in_place
from tiny_steps import (
    GENERATIONS,
    euler_step,
    flow_module,
    llm_step,
    vocoder,
    vocoder_step,
)

from streaming.cosyvoice.flow.attention import Gathered
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.batch import Shapes
from streaming.cosyvoice.flow.build import network
from streaming.cosyvoice.flow.graphs import Graphs
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.sizes import LOOKAHEAD_TOKENS, SPEECH_TOKENS
from streaming.cosyvoice.vocoder import graphs as vocoder_graphs
from streaming.cosyvoice.vocoder.shapes import Shapes as VocoderShapes

CPU = torch.device("cpu")
DTYPES = [torch.float32, torch.float16, torch.bfloat16]
WAYS = [pytest.param(Gathered, id="gathered"), pytest.param(in_place, id="in place")]
"""Of a GPU's attention."""


@pytest.fixture(scope="module", params=GENERATIONS)
def generation(request):
    return request.param


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_euler_step_asks_the_host_for_nothing(generation, dtype, way):
    step = euler_step(generation, dtype, way)
    with torch.no_grad(), Watched() as watched:
        made = step()
    assert made.shape == (6, 50, 80)
    assert watched.seen > 100


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_step_of_the_vocoder_asks_the_host_for_nothing(generation, dtype):
    step = vocoder_step(generation, dtype)
    with torch.no_grad(), Watched() as watched:
        samples, *after = step()
    assert samples.shape[0] == 3
    for made, given in zip(after, step.args[2:], strict=True):
        assert (made.shape, made.dtype) == (given.shape, given.dtype)
    assert watched.seen > 500


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "looks", [{"dense": True}, {"dense": False}, {"dense": False, "kernels": plain_kernels}]
)
def test_a_single_token_step_of_the_llm_asks_the_host_for_nothing(generation, dtype, looks):
    step = llm_step(generation, dtype, **looks)
    with torch.no_grad(), Watched() as watched:
        choices = step()
    assert (choices.shape, choices.dtype) == ((4,), torch.int64)
    assert watched.seen > 100


@pytest.mark.parametrize("way", WAYS)
def test_replayed_euler_steps_are_the_steps_themselves(generation, way):
    """Voices, hops and contexts of other lengths and at other Euler steps, in the same shapes."""
    few, model = Shapes((1, 2, 4), (2, 4, 6)), flow_module(generation)
    plain = Flow(network(model, CPU, torch.float32, way=way), budget_bytes=1 << 26, shapes=few)
    replayed = Flow(
        network(model, CPU, torch.float32, way=way),
        budget_bytes=1 << 26,
        shapes=few,
        wrap=lambda advance: Graphs(advance, tape, few),
    )
    replayed.warm(4, 6)
    for one, other in zip(*(spoken(flow) for flow in (plain, replayed)), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


def spoken(flow):
    """Three contexts, two of one voice, the third two Euler steps behind."""
    numbers = torch.Generator().manual_seed(3)
    voices = [
        flow.voice(
            FlowPrompt(
                tuple(torch.randint(SPEECH_TOKENS, (count,), generator=numbers).tolist()),
                torch.randn(2 * count, 80, generator=numbers),
                torch.randn(192, generator=numbers),
            )
        )
        for count in (30, 55)
    ]
    states = [flow.begin(voices[0]), flow.begin(voices[0]), flow.begin(voices[1])]
    mels = []
    for last in (False, True):
        hops = []
        for state in states:
            count = 9 if last else flow.next_hop(state) + LOOKAHEAD_TOKENS
            tokens = torch.randint(SPEECH_TOKENS, (count,), generator=numbers).tolist()
            hops.append(flow.start(state, tokens, last=last))
        flow.euler(hops[:2])
        flow.euler(hops[:2])
        while left := [hop for hop in hops if not hop.done]:
            flow.euler(left)
        mels += [hop.mel for hop in hops]
        states = [hop.state for hop in hops]
    return mels


def test_replayed_steps_of_the_vocoder_are_the_steps_themselves(generation):
    few = VocoderShapes((1, 2, 4), (16, 32, 64))
    plain, replayed = vocoder(generation).fuse(), vocoder(generation).fuse()
    replayed.launch(few, lambda advance: vocoder_graphs.Graphs(advance, tape))
    assert replayed.warm(2) == 6
    numbers = torch.Generator().manual_seed(3)
    mels = [torch.randn(frames, 80, generator=numbers) for frames in (61, 40, 23)]
    heard = [sung(each, mels) for each in (plain, replayed)]
    for one, other in zip(*heard, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


def sung(network, mels):
    """Streams that begin and end in different steps of the batch."""
    states = [network.begin(seed) for seed in range(len(mels))]
    heard = [[] for _ in mels]
    for hop in range(4):
        going = [at for at, mel in enumerate(mels) if hop * 20 < len(mel)]
        rows = [
            (states[at], mels[at][hop * 20 : hop * 20 + 20], hop * 20 + 20 >= len(mels[at]))
            for at in going
        ]
        for at, (samples, state) in zip(going, network.step(rows), strict=True):
            heard[at].append(samples)
            states[at] = state
    return [torch.cat(parts) for parts in heard]
