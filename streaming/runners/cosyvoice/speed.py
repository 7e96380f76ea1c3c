"""What makes steps quicker on a device, and what is said where it cannot be had.

The one place that decides, for all networks: on CUDA steps of shapes that come again are captured
as graphs, attention reads keys and values where they lie, and what lies between the products is
compiled first where that was asked for; on a CPU they run as they are. Knows: settings, graphs,
Triton. Does not know: what a step computes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import torch

from streaming.config import CosyVoiceSettings
from streaming.cosyvoice.capture import CudaRecord, Record
from streaming.cosyvoice.compiling import Compile, Compiled, as_it_is
from streaming.cosyvoice.flow.attention import InPlace, Way
from streaming.cosyvoice.flow.batch import Shapes
from streaming.cosyvoice.flow.graphs import IN_PLACE_SHAPES, SHAPES
from streaming.cosyvoice.flow.graphs import Graphs as FlowGraphs
from streaming.cosyvoice.flow.stream import Advance
from streaming.cosyvoice.kernel_check import failure
from streaming.cosyvoice.llm.model import SpeechLlm
from streaming.cosyvoice.tiles import Kernels
from streaming.cosyvoice.vocoder.graphs import Graphs as VocoderGraphs
from streaming.cosyvoice.vocoder.stepping import StreamingVocoder
from streaming.engine.notes import note


@dataclass(frozen=True)
class FlowSpeed:
    """How Euler steps are launched."""

    shapes: Shapes | None
    wrap: Callable[[Advance], Advance] | None
    compiled: Compile
    """For the network's own functions."""
    way: Way | None
    """Of its attention; None: the device's usual."""


@dataclass(frozen=True)
class Speed:
    """What there is on this device."""

    how: str
    """For people."""
    compiled: Compile = as_it_is
    record: Callable[[], Record] | None = None
    """A new one for each network: they replay at the same time, on streams of their own."""
    kernels: Kernels | None = None
    """For attention that reads keys and values where they lie."""

    def of_flow(self) -> FlowSpeed:
        """Euler steps."""
        way = None if self.kernels is None else partial(InPlace, kernels=self.kernels)
        if self.record is None:
            return FlowSpeed(None, None, self.compiled, way)
        shapes = SHAPES if way is None else IN_PLACE_SHAPES
        wrap = partial(FlowGraphs, record=self.record(), shapes=shapes)
        return FlowSpeed(shapes, wrap, self.compiled, way)

    def of_vocoder(self, vocoder: StreamingVocoder) -> None:
        """Its steps are launched that way from now on."""
        vocoder.compile_curves(self.compiled)
        if self.record is not None:
            record = self.record()
            vocoder.launch(vocoder.usual_shapes, lambda advance: VocoderGraphs(advance, record))

    def of_llm(self, llm: SpeechLlm) -> Record | None:
        """Its parts are compiled; what its decoder is to record steps with."""
        llm.body.compile_parts(self.compiled)
        return None if self.record is None else self.record()


def speed_of(settings: CosyVoiceSettings, device: torch.device, dtype: torch.dtype) -> Speed:
    """What can be had there, and the log says what cannot."""
    missing = _not_compiled(device) if settings.compile else None
    if missing is not None:
        note("not_compiled", level="warning", why=missing)
    if device.type != "cuda":
        return Speed(f"eager on {device.type}: graphs are captured on CUDA alone")
    kernels = _kernels(device, dtype) if settings.in_place else None
    how = "cuda graphs" if kernels is None else "cuda graphs, attention in place"
    if not settings.compile or missing is not None:
        return Speed(how, as_it_is, CudaRecord, kernels)
    return Speed(f"compiled, {how}", Compiled, CudaRecord, kernels)


def _not_compiled(device: torch.device) -> str | None:
    if device.type != "cuda":
        return "the networks' steps are compiled for CUDA alone"
    return _no_triton()


def _kernels(device: torch.device, dtype: torch.dtype) -> Kernels | None:
    why = _no_triton()
    if why is None:
        from streaming.cosyvoice import kernels  # noqa: PLC0415 - it cannot be had without Triton

        why = failure(kernels, device, dtype)
        if why is None:
            return kernels
    note("attention_not_in_place", level="warning", why=why)
    return None


def _no_triton() -> str | None:
    if find_spec("triton") is None:
        return "Triton is not installed (on Windows torch comes without)"
    return None
