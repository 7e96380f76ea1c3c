"""Capturing steps: on a tape, which any machine has, and on CUDA."""

import pytest
import torch
from capturing import tape

from streaming.cosyvoice.capture import CudaRecord
from streaming.cosyvoice.flow.base import Rows
from streaming.cosyvoice.flow.batch import Shapes
from streaming.cosyvoice.flow.graphs import SHAPES, Graphs

CPU = torch.device("cpu")


def rows(device=CPU, value=1.0):
    whole = torch.zeros(2, dtype=torch.int64, device=device)
    return Rows(
        x=torch.full((2, 50, 80), value, device=device),
        given=torch.full((2, 50, 4), value, device=device),
        step=whole,
        page=whole,
        before=whole,
        table=torch.zeros(2, 3, dtype=torch.int64, device=device),
        keys=whole,
        position=whole,
        host=(),
    )


def test_a_replay_is_the_step_itself_and_knows_nothing_of_the_host():
    asked = []
    graphs = Graphs(
        lambda given: asked.append(given.host) or given.x * 2 + given.given.sum(),
        tape,
        Shapes((2,), (3,)),
    )
    for value in (1.0, 2.0, 3.0):
        given = rows(value=value)
        assert torch.equal(graphs(given), given.x * 2 + given.given.sum())
    assert asked == [(), ()]  # to choose kernels, and to record


def test_what_fits_no_shape_runs_as_it_is():
    asked = []
    for shapes in (Shapes((1,), (3,)), Shapes((2,), (2, 4))):
        graphs = Graphs(lambda given: asked.append(given) or given.x + 1, tape, shapes)
        given = rows()
        assert torch.equal(graphs(given), given.x + 1)
        assert asked[-1] is given


def test_every_batch_has_a_shape_that_holds_it():
    for count in (1, 5, 100, 256):
        for pages in (1, 7, 64):
            wide, deep = SHAPES.of(count, pages)
            assert wide >= count
            assert deep >= pages


@pytest.mark.cuda
def test_on_cuda_a_replay_is_the_step_itself():
    device = torch.device("cuda")
    shapes = Shapes((2,), (3,))
    graphs = Graphs(lambda given: given.x * 2 + given.given.sum(), CudaRecord(), shapes)
    with torch.cuda.stream(torch.cuda.Stream()):
        for value in (1.0, 2.0, 3.0):
            given = rows(device, value)
            assert torch.equal(graphs(given), given.x * 2 + given.given.sum())


def test_a_warm_flow_has_met_its_shapes_and_says_the_same(
    make_flow, make_prompt, make_tokens, speak
):
    shapes = Shapes(rows=(1, 2, 4), pages=(2, 4, 8))
    plain, warmed = make_flow(), make_flow(shapes=shapes)
    free = warmed.pool.free
    assert warmed.warm(2, 4) == 4
    assert warmed.pool.free == free
    prompt, tokens = make_prompt(30), make_tokens(40)
    mels = [speak(flow, flow.voice(prompt), tokens)[0] for flow in (plain, warmed)]
    torch.testing.assert_close(*mels, atol=1e-5, rtol=0)
