"""What steps cost on a device: a table, measured or estimated.

Estimates come from a card's memory bandwidth and half-precision throughput (its maker's figures)
and from what the networks need (0.5B: about 1 GB of weights a step of the LLM, 1.3 GFLOP a mel
frame and Euler step for both guidance rows of the flow). Knows: costs. Does not know: who asks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from streaming.runners.cosyvoice import profile
from streaming.steps import Cost

NOT_MEASURED = "not measured"

LLM_GB = 1.0
LLM_GFLOP_PER_TOKEN = 1.0
FLOW_GFLOP_PER_FRAME = 1.3
VOCODER_GFLOP_PER_FRAME = 1.8

BANDWIDTH_SHARE = 0.6
"""Of its memory bandwidth that a card reaches on weights."""

FLOW_SHARE, VOCODER_SHARE, LLM_SHARE = 0.4, 0.1, 0.3
"""Of its arithmetic that a card reaches."""

LLM_LAUNCH_S, FLOW_LAUNCH_S, VOCODER_LAUNCH_S = 0.0008, 0.0015, 0.003
"""What a step costs though its work is nothing, as a captured graph."""


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


def estimated(name: str, gb_per_s: float, tflops: float) -> Device:
    """A card that nobody measured: memory bandwidth, dense half-precision throughput."""
    weights_s = LLM_GB / gb_per_s / BANDWIDTH_SHARE
    return Device(
        name,
        llm=Cost(LLM_LAUNCH_S + weights_s, LLM_GFLOP_PER_TOKEN / 1000 / tflops / LLM_SHARE),
        flow=Cost(FLOW_LAUNCH_S, FLOW_GFLOP_PER_FRAME / 1000 / tflops / FLOW_SHARE),
        vocoder=Cost(VOCODER_LAUNCH_S, VOCODER_GFLOP_PER_FRAME / 1000 / tflops / VOCODER_SHARE),
    )


ESTIMATES = {
    device.name: device
    for device in (
        estimated("3060", 360, 51),
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
