"""What steps cost on a device: a table, measured or estimated.

Estimates come from a card's memory bandwidth and half-precision throughput (its maker's figures)
and from what the networks need: weights to be read, products to be made, and the keys and values
that LLM and flow look back at.
Knows: costs. Does not know: who asks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from streaming.cosyvoice.sizes import BLOCK_FRAMES
from streaming.runners.cosyvoice import profile
from streaming.runners.cosyvoice.rhythm import usual
from streaming.steps import Cost

NOT_MEASURED = "not measured"

LLM_GB = 0.72
LLM_GFLOP_PER_TOKEN = 0.72
FLOW_GFLOP_PER_FRAME = 0.76
VOCODER_GFLOP_PER_FRAME = 0.62
"""Counted of the published sizes (as a test does): layers of the LLM in bf16, an Euler step for
both guidance rows; without what they look back at."""

LLM_LOOK_BYTES = 24 * 2 * 2 * 64 * 2
"""Keys and values of a position: layers, both, heads, their size, bf16."""

FLOW_LOOK_BYTES = 22 * 2 * 2 * 1024 * 2 / BLOCK_FRAMES
"""Of a frame before: layers, both, guidance rows, width, bf16; read once for a block's frames."""

BANDWIDTH_SHARE = 0.6
"""Of its memory bandwidth that a card reaches on weights."""

FLOW_SHARE, VOCODER_SHARE, LLM_SHARE = 0.4, 0.1, 0.3
"""Of its arithmetic that a card reaches."""

LLM_LAUNCHES, FLOW_LAUNCHES, VOCODER_LAUNCHES = 815, 450, 820
"""Operations of a step that are kernels of their own: counted, too, with attention in place and
nothing compiled."""

LAUNCH_S = 2e-6
"""What one costs in a captured graph though its work is nothing."""


@dataclass(frozen=True)
class Device:
    """One card, or another machine."""

    name: str
    llm: Cost
    flow: Cost
    vocoder: Cost
    measured: bool = False

    @property
    def label(self) -> str:
        """Its name, with a mark where nobody has measured it."""
        return self.name if self.measured else f"{self.name} ({NOT_MEASURED})"

    @property
    def costs(self) -> dict[str, Cost]:
        """By stage."""
        return {"llm": self.llm, "flow": self.flow, "vocoder": self.vocoder}

    def priors(self, window_s: float) -> dict[str, Cost]:
        """What a server on it would plan with from the start."""
        return usual(self.costs, window_s)


def estimated(name: str, gb_per_s: float, tflops: float) -> Device:
    """A card that nobody measured: memory bandwidth, dense half-precision throughput.

    The latter where sums are kept in 32 bits, as torch keeps them.
    """
    gb_s = 1 / gb_per_s / BANDWIDTH_SHARE
    look_s = gb_s / 1e9
    gflop_s = 1 / tflops / 1000
    return Device(
        name,
        llm=Cost(
            LLM_LAUNCHES * LAUNCH_S + LLM_GB * gb_s,
            LLM_GFLOP_PER_TOKEN * gflop_s / LLM_SHARE,
            LLM_LOOK_BYTES * look_s,
        ),
        flow=Cost(
            FLOW_LAUNCHES * LAUNCH_S,
            FLOW_GFLOP_PER_FRAME * gflop_s / FLOW_SHARE,
            FLOW_LOOK_BYTES * look_s,
        ),
        vocoder=Cost(
            VOCODER_LAUNCHES * LAUNCH_S, VOCODER_GFLOP_PER_FRAME * gflop_s / VOCODER_SHARE
        ),
    )


ESTIMATES = {
    device.name: device
    for device in (
        estimated("3060", 360, 25.5),
        estimated("4090", 1008, 165),
        estimated("L4", 300, 121),
        estimated("A10", 600, 125),
        estimated("A100", 2039, 312),
        estimated("H100", 3350, 989),
        estimated("H200", 4800, 989),
    )
}


def measured(path: Path) -> Device:
    """What ``python -m benchmarks.gpu --table FILE`` wrote.

    Raises:
        ValueError: it is no such table.
    """
    costs = profile.costs(path)
    name = json.loads(path.read_text(encoding="utf-8")).get("device") or path.stem
    return Device(str(name), **costs, measured=True)
