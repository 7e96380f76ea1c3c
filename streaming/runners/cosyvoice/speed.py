"""What makes steps quicker on a device, and what is said where it cannot be had.

Knows: graphs, compilation, Triton. Does not know: what a step computes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import torch

from streaming.config import CosyVoiceSettings
from streaming.cosyvoice.flow.batch import Shapes
from streaming.cosyvoice.flow.graphs import SHAPES, Graphs
from streaming.cosyvoice.flow.stream import Advance, as_it_is
from streaming.engine.notes import note


@dataclass(frozen=True)
class FlowSpeed:
    """How Euler steps are launched."""

    shapes: Shapes | None
    wrap: Callable[[Advance], Advance]
    how: str


def of_flow(settings: CosyVoiceSettings, device: torch.device) -> FlowSpeed:
    """Graphs on CUDA, compiled first where that was asked for; as they are on a CPU."""
    if device.type != "cuda":
        how = "eager: graphs are captured on CUDA alone"
        if settings.compile:
            note("not_compiled", why="the networks' steps are compiled for CUDA alone")
        return FlowSpeed(None, as_it_is, how)
    if not settings.compile:
        return FlowSpeed(SHAPES, Graphs, "cuda graphs")
    if find_spec("triton") is None:
        note("not_compiled", why="Triton is not installed (on Windows it does not exist)")
        return FlowSpeed(SHAPES, Graphs, "cuda graphs, not compiled")
    return FlowSpeed(SHAPES, lambda step: Graphs(_compiled(step)), "compiled, cuda graphs")


def _compiled(step: Advance) -> Advance:
    made: Advance = torch.compile(step, dynamic=False)
    return made
