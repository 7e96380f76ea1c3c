"""What lies between products, compiled: the same numbers, few compilations, a way back."""

import logging
import os
import shutil

import pytest
import torch

from streaming.cosyvoice.compiling import Compiled, as_it_is
from streaming.cosyvoice.flow.base import FlowPrompt
from streaming.cosyvoice.flow.build import module, network
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.flow.v2 import unet
from streaming.cosyvoice.flow.v3 import network as dit
from streaming.cosyvoice.llm import body as llm
from streaming.cosyvoice.llm.decoder import Decoder
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.llm.script import LlmPrompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, DitSizes, LlmSizes, UnetSizes, VocoderSizes
from streaming.cosyvoice.vocoder import VocoderV2, VocoderV3
from streaming.cosyvoice.vocoder.layers import snaked

CPU = torch.device("cpu")
CPP = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")


@pytest.fixture(autouse=True)
def forgotten():
    """What another test has compiled."""
    torch.compiler.reset()


def drawn(*shape):
    return torch.randn(*shape)


def affine(out, size, dtype=torch.float32):
    return drawn(out, size).to(dtype) / size**0.5, drawn(out).to(dtype)


def snakes():
    """Every resolution has its channels, every batch its steps."""
    for rows in (1, 2, 3):
        for channels, steps in ((16, 24), (8, 120), (4, 361)):
            yield drawn(rows, channels, steps), drawn(channels, 1), drawn(channels, 1)


def modulations(dtype=torch.float32):
    for rows in (1, 2, 5):
        yield drawn(rows, 2, 50, 32), drawn(rows, 1, 1, 32), drawn(rows, 1, 1, 32), dtype


def dit_halves():
    for rows in (1, 2, 5):
        says = (drawn(rows, 1, 1, 32) for _ in range(3))
        yield drawn(rows, 2, 50, 32), *says, *affine(64, 32), *affine(32, 64)


def bends():
    for rows in (2, 4, 10):
        yield drawn(rows, 50, 32), drawn(32), drawn(32)


def unet_halves():
    for rows in (2, 4, 10):
        norm = drawn(32), drawn(32)
        yield drawn(rows, 50, 32), norm, affine(128, 32), affine(32, 128)


def normings(dtype=torch.float32):
    for tokens in (1, 2, 16):
        yield drawn(tokens, 32), drawn(32), 1e-6, dtype


def turnings(dtype=torch.float32):
    for tokens in (1, 2, 16):
        yield drawn(tokens, 6, 8).to(dtype), drawn(tokens, 1, 8), drawn(tokens, 1, 8)


def gates(dtype=torch.float32):
    for tokens in (1, 2, 16):
        yield (drawn(tokens, 64).to(dtype),)


PARTS = {
    "normed": (llm.normed, normings),
    "normed to 16 bits": (llm.normed, lambda: normings(torch.bfloat16)),
    "turned": (llm.turned, turnings),
    "turned in 16 bits": (llm.turned, lambda: turnings(torch.bfloat16)),
    "gated": (llm.gated, gates),
    "gated in float16": (llm.gated, lambda: gates(torch.float16)),
    "snaked": (snaked, snakes),
    "modulated": (dit.modulated, modulations),
    "modulated to 16 bits": (dit.modulated, lambda: modulations(torch.bfloat16)),
    "fed forward, version 3": (dit.fed_forward, dit_halves),
    "bent": (unet.bent, bends),
    "fed forward, version 2": (unet.fed_forward, unet_halves),
}


@pytest.mark.parametrize("part", PARTS)
def test_two_compilations_do_for_all_batches_and_layers(part):
    """One for a single row, which torch always takes by itself, and one for all others.

    torch gives up, unseen, after eight.
    """
    function, batches = PARTS[part]
    graphs = []

    def backend(graph, _inputs):
        graphs.append(graph)
        return graph.forward

    compiled = Compiled(function, backend)
    with torch.inference_mode():
        for given in batches():
            assert torch.equal(compiled(*given), function(*given))
    assert 1 <= len(graphs) <= 2


@pytest.mark.skipif(
    CPP is None, reason="torch compiles for a CPU with a C++ compiler: none is here"
)
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # of torch's own modules
def test_compiled_for_real_the_numbers_are_the_same():
    compiled = Compiled(snaked)
    given = list(snakes())[-1]
    with torch.inference_mode():
        torch.testing.assert_close(compiled(*given), snaked(*given), atol=1e-6, rtol=1e-5)
    assert compiled.works


def test_what_cannot_be_compiled_runs_as_it_is_and_that_is_said_once(caplog):
    def backend(_graph, _inputs):
        raise FileNotFoundError("no C compiler here")

    compiled = Compiled(snaked, backend)
    with caplog.at_level(logging.WARNING, "streaming"), torch.inference_mode():
        for given in snakes():
            assert torch.equal(compiled(*given), snaked(*given))
    (said,) = [each for each in caplog.messages if "not compiled" in each]
    assert "snaked is not compiled" in said
    assert "no C compiler here" in said
    assert not compiled.works


def test_an_error_of_the_function_itself_is_no_reason_to_give_up():
    compiled = Compiled(snaked, lambda graph, _: graph.forward)
    with torch.inference_mode():
        compiled(*next(snakes()))
        with pytest.raises(RuntimeError, match="must match"):
            compiled(drawn(2, 3, 4), drawn(5, 1), drawn(3, 1))
    assert compiled.works


def test_where_memory_is_full_it_is_tried_again_compiled():
    def backend(graph, _inputs):
        def run(*given):
            if full:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return graph.forward(*given)

        return run

    full, compiled, given = [], Compiled(snaked, backend), next(snakes())
    with torch.inference_mode():
        compiled(*given)
        full.append(True)
        with pytest.raises(torch.OutOfMemoryError):
            compiled(*given)
        full.clear()
        assert torch.equal(compiled(*given), snaked(*given))
    assert compiled.works


def counted(functions):
    """A ``Compile`` that notes what it was asked for."""

    def compiled(function):
        functions.append(function.__name__)
        return Compiled(function, lambda graph, _: graph.forward)

    return compiled


@pytest.mark.parametrize("generation", ["cosyvoice2", "cosyvoice3"])
def test_a_language_model_with_compiled_parts_says_the_same(generation):
    torch.manual_seed(1)
    sizes = LlmSizes(generation, hidden=32, feed_forward=64, layers=2, heads=4, kv_heads=2)
    model = SpeechLlm(sizes).eval()
    functions, said = [], []
    for compiled in (as_it_is, counted(functions)):
        model.body.compile_parts(compiled)
        decoder = Decoder(model, slots=1, positions=100)
        one = decoder.begin(LlmPrompt((END_OF_PROMPT, 5)), (1, 2, 3), seed=1, segment=0)
        while not one.done:
            decoder.step([one])
        said.append(one.tokens)
    assert said[0] == said[1] != []
    assert sorted(functions) == ["gated", "normed", "turned"]


@pytest.mark.parametrize("kind", [VocoderV2, VocoderV3])
def test_a_vocoder_with_compiled_curves_sounds_the_same(kind):
    small = VocoderSizes(
        base_channels=8, f0_channels=8, resblock_kernels=(3,), resblock_dilations=((1,),)
    )
    torch.manual_seed(1)
    vocoder = kind(small).fuse()
    mel = drawn(30, 80)
    plain = vocoder.whole(mel)
    functions = []
    vocoder.compile_curves(counted(functions))
    assert torch.equal(vocoder.whole(mel), plain)
    assert functions == ["snaked"]


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [
        (DitSizes(32, 2, 2, 16, lookahead_channels=24), {"modulated", "fed_forward"}),
        (
            UnetSizes(
                encoder_dim=32,
                encoder_heads=2,
                encoder_feed_forward=48,
                encoder_blocks=1,
                channels=32,
                blocks=1,
                middle_blocks=1,
                heads=2,
                head_dim=16,
            ),
            {"bent", "fed_forward"},
        ),
    ],
)
def test_a_flow_with_compiled_parts_says_the_same(sizes, parts):
    torch.manual_seed(1)
    model = module(sizes).eval()
    prompt = FlowPrompt((1,) * 30, drawn(60, 80), drawn(192))
    functions, states = [], []
    for made in (
        network(model, CPU, torch.float32),
        network(model, CPU, torch.float32, counted(functions)),
    ):
        flow = Flow(made, budget_bytes=1 << 26)
        hop = flow.start(flow.begin(flow.voice(prompt)), (5, 6, 7, 8), last=True)
        while not hop.done:
            flow.euler([hop])
        states.append(hop.mel)
    assert torch.equal(*states)
    assert set(functions) == parts
