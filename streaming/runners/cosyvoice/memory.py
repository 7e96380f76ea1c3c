"""How the device's memory is shared out at the start, once the weights are there.

What is free then, up to the budget, becomes slots of the LLM and pages of the flow, both taken at
once: so memory cannot run out later without somebody being told. Knows: bytes. Does not know: who
uses them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

from streaming.config import EngineSettings
from streaming.cosyvoice.sizes import LlmSizes

LLM_SHARE = 0.25
"""Of the budget, at most, for the LLM's keys and values."""

WORKING_SHARE = 0.1
"""Of the budget, for what steps need while they run."""

VOICE_SHARE = 0.25
"""Of the flow's memory, for voices that nobody speaks with now."""

HOST_SHARE = 0.25
"""Of a CPU's free memory: other programs live there."""


@dataclass(frozen=True)
class Share:
    """Who gets what."""

    slots: int
    flow_bytes: int
    voice_bytes: int
    """Of it, what voices may hold that nobody speaks with."""


def share_out(
    settings: EngineSettings, llm: LlmSizes, device: torch.device, dtype: torch.dtype
) -> Share:
    """Slots for as many contexts as the settings allow, or as a quarter of the budget holds.

    Raises:
        ValueError: there is not room for one.
    """
    budget = int(free_bytes(device) * settings.cosyvoice.memory_budget)
    head = llm.hidden // llm.heads
    position = 2 * llm.layers * llm.kv_heads * head * dtype.itemsize
    slot = position * (settings.cosyvoice.positions + 1)
    slots = min(settings.slots, int(budget * LLM_SHARE) // slot)
    if slots < 1:
        raise ValueError(
            f"{budget >> 20} MiB of {device} may be used, too little for one context's "
            f"{slot >> 20} MiB: close other programs, or lower engine.cosyvoice.positions"
        )
    rest = budget - slots * slot - int(budget * WORKING_SHARE)
    flow = min(rest, _flow_most(settings))
    return Share(slots, flow, int(flow * VOICE_SHARE))


def free_bytes(device: torch.device) -> int:
    """What is free on the device now; of a CPU's memory the share that may be taken."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return free
    pages = os.sysconf("SC_AVPHYS_PAGES") if hasattr(os, "sysconf") else 0
    known = pages * os.sysconf("SC_PAGE_SIZE") if pages else 4 << 30
    return int(known * HOST_SHARE)


def _flow_most(settings: EngineSettings) -> int:
    """A bound where the settings have one; else all that is left."""
    most = settings.cosyvoice.flow_mib
    return most << 20 if most else 1 << 62
