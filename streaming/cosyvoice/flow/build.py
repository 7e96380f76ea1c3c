"""A flow out of a checkpoint's numbers: the one place that knows both generations.

Knows: which sizes mean which generation. Does not know: files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from streaming.cosyvoice.compiling import Compile, as_it_is
from streaming.cosyvoice.flow.attention import Way
from streaming.cosyvoice.flow.base import Network
from streaming.cosyvoice.flow.batch import Shapes
from streaming.cosyvoice.flow.stream import Advance, Flow
from streaming.cosyvoice.flow.v2.module import FlowV2
from streaming.cosyvoice.flow.v2.network import NetworkV2
from streaming.cosyvoice.flow.v3.module import FlowV3
from streaming.cosyvoice.flow.v3.network import NetworkV3
from streaming.cosyvoice.sizes import DitSizes, UnetSizes


def module(sizes: DitSizes | UnetSizes) -> FlowV3 | FlowV2:
    """The network as the checkpoint names it, with weights still to be loaded."""
    return FlowV3(sizes) if isinstance(sizes, DitSizes) else FlowV2(sizes)


def network(
    model: FlowV3 | FlowV2,
    device: torch.device,
    dtype: torch.dtype,
    compiled: Compile = as_it_is,
    way: Way | None = None,
) -> Network:
    """``model``'s weights, which are in float32, made ready for streaming."""
    if isinstance(model, FlowV3):
        return NetworkV3(model, device=device, dtype=dtype, compiled=compiled, way=way)
    return NetworkV2(model, device=device, dtype=dtype, compiled=compiled, way=way)


def load(
    sizes: DitSizes | UnetSizes,
    state: Mapping[str, Tensor],
    device: torch.device,
    dtype: torch.dtype,
    compiled: Compile = as_it_is,
    way: Way | None = None,
) -> Network:
    """The network of a checkpoint; ``state`` is ``flow.pt``'s, in the precision it came in.

    Raises ``RuntimeError`` where names or shapes are not the generation's.
    """
    with torch.device("meta"):  # nothing is drawn that would only be written over
        model = module(sizes)
    model.load_state_dict(state, strict=True, assign=True)
    return network(model.float().eval(), device, dtype, compiled, way)


def flow(
    sizes: DitSizes | UnetSizes,
    state: Mapping[str, Tensor],
    *,
    device: torch.device,
    dtype: torch.dtype,
    budget_bytes: int,
    shapes: Shapes | None = None,
    wrap: Callable[[Advance], Advance] | None = None,
) -> Flow:
    """A flow ready to speak; ``state`` is ``flow.pt``'s, in the precision it was published in.

    Raises ``RuntimeError`` where names or shapes are not the generation's.
    """
    made = load(sizes, state, device, dtype)
    return Flow(made, budget_bytes=budget_bytes, shapes=shapes, wrap=wrap)
