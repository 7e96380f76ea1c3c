"""Which speed switches there are on a device, and what is said of those there are not."""

import json
import sys

import plain_kernels
import pytest
import torch

import streaming.cosyvoice
from streaming.config import CosyVoiceSettings
from streaming.cosyvoice.capture import CudaRecord
from streaming.cosyvoice.compiling import Compiled, as_it_is
from streaming.cosyvoice.flow.attention import InPlace
from streaming.cosyvoice.flow.graphs import IN_PLACE_SHAPES, SHAPES, Graphs
from streaming.cosyvoice.llm.body import RmsNorm
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.sizes import LlmSizes, VocoderSizes
from streaming.cosyvoice.vocoder import VocoderV2, VocoderV3
from streaming.cosyvoice.vocoder.graphs import Graphs as VocoderGraphs
from streaming.runners.cosyvoice import speed

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
PLAIN, COMPILE = CosyVoiceSettings(), CosyVoiceSettings(compile=True)
APART = CosyVoiceSettings(in_place=False)


@pytest.fixture
def triton(monkeypatch):
    """``triton(there)``: whether it is installed, with kernels that work, or fail because of."""

    def put(there, why=None):
        monkeypatch.setattr(speed, "find_spec", lambda _: object() if there else None)
        monkeypatch.setattr(streaming.cosyvoice, "kernels", plain_kernels, raising=False)
        monkeypatch.setitem(sys.modules, "streaming.cosyvoice.kernels", plain_kernels)
        monkeypatch.setattr(speed, "failure", lambda *_: why)

    return put


def speed_of(settings, device):
    return speed.speed_of(settings, device, torch.float32)


def said(capfd):
    return [json.loads(line) for line in capfd.readouterr().err.splitlines()]


def test_on_a_cpu_steps_run_as_they_are(capfd):
    found = speed_of(PLAIN, CPU)
    assert found.how == "eager on cpu: graphs are captured on CUDA alone"
    assert (found.of_flow().shapes, found.of_flow().wrap) == (None, None)
    assert found.of_flow().compiled is as_it_is
    assert said(capfd) == []


def test_compiling_that_a_cpu_cannot_have_is_said_once(capfd):
    found = speed_of(COMPILE, CPU)
    assert found.compiled is as_it_is
    (line,) = said(capfd)
    assert (line["event"], line["level"]) == ("not_compiled", "warning")
    assert "for CUDA alone" in line["why"]


def test_on_cuda_steps_are_graphs(capfd):
    found = speed_of(APART, CUDA)
    assert (found.how, found.compiled, found.record) == ("cuda graphs", as_it_is, CudaRecord)
    euler = found.of_flow()
    assert (euler.shapes, euler.way) == (SHAPES, None)
    assert isinstance(euler.wrap(lambda rows: rows.x), Graphs)
    assert said(capfd) == []


def test_with_triton_attention_is_in_place(triton, capfd):
    triton(there=True)
    found = speed_of(PLAIN, CUDA)
    assert (found.how, found.kernels) == ("cuda graphs, attention in place", plain_kernels)
    euler = found.of_flow()
    assert euler.shapes is IN_PLACE_SHAPES
    assert euler.way.func is InPlace
    assert said(capfd) == []


def test_kernels_that_fail_are_not_used_and_that_is_said(triton, capfd):
    triton(there=True, why="its kernels fail here: no compiler")
    found = speed_of(PLAIN, CUDA)
    assert (found.how, found.kernels) == ("cuda graphs", None)
    assert found.of_flow().shapes is SHAPES
    (line,) = said(capfd)
    assert (line["event"], line["level"]) == ("attention_not_in_place", "warning")
    assert line["why"] == "its kernels fail here: no compiler"


def test_without_triton_they_are_not_compiled_and_that_is_said(triton, capfd):
    triton(there=False)
    found = speed_of(COMPILE, CUDA)
    assert (found.how, found.compiled, found.record) == ("cuda graphs", as_it_is, CudaRecord)
    lines = said(capfd)
    assert [line["event"] for line in lines] == ["not_compiled", "attention_not_in_place"]
    assert all("Triton is not installed" in line["why"] for line in lines)


def test_with_triton_all_networks_are_compiled(triton, capfd):
    triton(there=True)
    found = speed_of(COMPILE, CUDA)
    assert found.how == "compiled, cuda graphs, attention in place"
    assert found.of_flow().compiled is Compiled
    with torch.device("meta"):
        llm = SpeechLlm(LlmSizes("cosyvoice3", hidden=32, layers=2, heads=4, kv_heads=2))
    found.of_llm(llm)
    norms = {part.normed for part in llm.modules() if isinstance(part, RmsNorm)}
    assert len(norms) == 1  # one for all: it is compiled once
    assert isinstance(norms.pop(), Compiled)
    assert said(capfd) == []


@pytest.mark.parametrize("kind", [VocoderV2, VocoderV3])
def test_the_vocoders_steps_are_graphs_too_and_its_curves_compiled(kind, triton):
    triton(there=True)
    vocoder = kind(VocoderSizes(base_channels=16, f0_channels=8)).fuse()
    speed_of(COMPILE, CUDA).of_vocoder(vocoder)
    assert vocoder._shapes is kind.usual_shapes
    assert isinstance(vocoder._advance, VocoderGraphs)
    curves = {block.curve for block in vocoder.modules() if hasattr(block, "curve")}
    assert len(curves) == 1  # one for all: it is compiled once
    assert isinstance(curves.pop(), Compiled)


def test_each_network_has_memory_of_its_own_to_replay_in():
    made = []

    class Counted(CudaRecord):
        def __init__(self):
            made.append(self)
            super().__init__()

    found = speed.Speed("counted", record=Counted)
    found.of_flow()
    found.of_vocoder(VocoderV3(VocoderSizes(base_channels=16, f0_channels=8)).fuse())
    assert len(made) == 2
