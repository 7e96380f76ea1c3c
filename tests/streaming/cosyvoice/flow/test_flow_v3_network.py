"""Version 3's network made ready: precisions, shapes, and nothing asked of the device."""

from __future__ import annotations

import json

import pytest
import torch
from plain_kernels import in_place
from torch.utils._python_dispatch import TorchDispatchMode

from streaming.cosyvoice.flow.attention import Gathered, Views
from streaming.cosyvoice.flow.batch import Shapes
from streaming.cosyvoice.flow.rotary import turned
from streaming.cosyvoice.flow.v3.module import FlowV3
from streaming.cosyvoice.flow.v3.network import NetworkV3

CPU = torch.device("cpu")

HALF_ERROR = {torch.float16: 0.005, torch.bfloat16: 0.05}
"""The furthest a mel of values around 1 may be from that in float32; see docs/performance.md."""


def test_names_and_shapes_are_the_checkpoints(golden_dir, golden_sizes):
    model = FlowV3(golden_sizes("cosyvoice3").flow)
    named = json.loads((golden_dir / "state_dict_shapes.json").read_text())["cosyvoice3.flow"]
    assert {name: list(value.shape) for name, value in model.state_dict().items()} == named


@pytest.mark.parametrize("way", [Views, Gathered, in_place])
@pytest.mark.parametrize("dtype", HALF_ERROR, ids=str)
def test_half_precision_stays_near(tiny, make_flow, make_prompt, make_tokens, speak, dtype, way):
    prompt, tokens = make_prompt(67), make_tokens(90)
    network = NetworkV3(tiny, device=CPU, dtype=dtype, way=way)
    flow = make_flow(network=network)
    mel, _ = speak(flow, flow.voice(prompt), tokens)
    assert mel.dtype == torch.float32
    far = (mel - tiny.one_pass(prompt, tokens, streaming=True)).abs()
    assert far.max() < HALF_ERROR[dtype]
    assert far.mean() < HALF_ERROR[dtype] / 8


def test_half_precision_halves_the_memory(tiny, network, make_flow):
    half = make_flow(network=NetworkV3(tiny, device=CPU, dtype=torch.bfloat16))
    assert half.pool.page_bytes * 2 == make_flow(network=network).pool.page_bytes


def test_the_model_it_is_made_of_stays_as_it_was(tiny):
    before = {name: value.clone() for name, value in tiny.state_dict().items()}
    NetworkV3(tiny, device=CPU, dtype=torch.float16)
    after = tiny.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert all(value.dtype == torch.float32 for value in after.values())


@pytest.mark.parametrize("way", [Gathered, in_place])
def test_any_attention_comes_to_the_same(tiny, make_flow, make_prompt, make_tokens, speak, way):
    flow = make_flow(network=NetworkV3(tiny, device=CPU, way=way))
    prompt, tokens = make_prompt(67), make_tokens(120)
    mel, _ = speak(flow, flow.voice(prompt), tokens, (0, 1))
    assert (mel - tiny.one_pass(prompt, tokens, streaming=True)).abs().max() < 5e-6


class Asked(TorchDispatchMode):
    """Notes each operation, and fails where the host would wait for a value of the device."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += 1
        assert func.name() not in {"aten::_local_scalar_dense", "aten::nonzero", "aten::equal"}
        return func(*args, **(kwargs or {}))


def test_a_step_asks_the_device_nothing_and_launches_as_much_for_many_as_for_one(
    tiny, make_flow, make_prompt, make_tokens
):
    flow = make_flow(pages=80, network=NetworkV3(tiny, device=CPU, way=Gathered))
    voice = flow.voice(make_prompt(67))
    launched = []
    for contexts in (1, 6):
        hops = [
            flow.start(flow.begin(voice), make_tokens(61, n), last=False) for n in range(contexts)
        ]
        with Asked() as asked:
            flow.euler(hops)
        # The batch is put together and taken apart per hop; the network never is.
        launched.append(asked.count - 2 * contexts)
    assert launched[1] - launched[0] <= 20


def test_a_step_is_one_graph_whatever_contexts_are_in_it(
    tiny, make_flow, make_prompt, make_tokens, speak
):
    graphs = []

    def compiler(graph, _):
        graphs.append(graph)
        return graph

    def compiled(advance):
        return torch.compile(advance, backend=compiler, fullgraph=True, dynamic=False)

    torch.compiler.reset()
    flow = make_flow(
        network=NetworkV3(tiny, device=CPU, way=Gathered),
        shapes=Shapes(rows=(2,), pages=(8,)),
        wrap=compiled,
    )
    prompt, tokens = make_prompt(67), make_tokens(60)
    mel, _ = speak(flow, flow.voice(prompt), tokens)
    assert (mel - tiny.one_pass(prompt, tokens, streaming=True)).abs().max() < 5e-6
    assert len(graphs) == 1


def test_pairs_are_turned_by_their_angle():
    quarter = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # cosines, sines of 90 and 0 degrees
    assert turned(torch.tensor([1.0, 2.0, 3.0, 4.0]), quarter).tolist() == [-2, 1, 3, 4]
