"""How the device's memory is shared out at the start, once the weights are there.

What is free then, up to the budget, becomes slots of the LLM and pages of the flow, both taken at
once: so memory cannot run out later without somebody being told. Where other programs left little,
everything shrinks before nobody is served. Knows: bytes. Does not know: who uses them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from streaming import host
from streaming.config import CosyVoiceSettings, EngineSettings
from streaming.cosyvoice.flow.pool import RESERVED
from streaming.cosyvoice.sizes import LlmSizes

PAGES_A_SLOT = 3
"""There are no more slots of the LLM than contexts that the flow could have begun: with the block
that completes the recording, one that was said and one under way, the recording being another's
too."""

WORKING_SHARE = 0.1
"""This share of the budget is left for what steps need while they run."""

VOICE_SHARE = 0.25
"""Voices that nobody speaks with now may hold this share of the flow's memory."""

PREFIX_SHARE = 0.1
"""Their beginnings in the LLM may hold this share of what is left for steps."""

HOST_SHARE = 0.25
"""This share of the host's free memory is taken, and no more: other programs live there."""

SMALL_SHARE = 1 / 16
"""This share of what is taken of the host is for what recordings say to the networks (which is on
the disk too), and as much again for beginnings in the LLM: small things that save much."""

LEAST_FEATURES_BYTES = 16 << 20
"""What recordings say has so much in any case: that of some fifty recordings of 10 s."""

LEAST_POSITIONS = 1024
"""Enough for a sentence of 20 s and its voice's recording of as much again."""

LEAST_SPEECH_S = 4
"""The flow holds at least so much beside a voice: a window of three seconds and a hop."""

UNBOUNDED = 1 << 62

UNKNOWN_HOST_BYTES = 4 << 30
"""What is taken to be free on a host whose system does not tell."""

RESERVE_BYTES = 512 << 20
"""Where less of the card is free than this, or than is left for steps, what is spare goes."""


@dataclass(frozen=True)
class Needs:
    """What things take, in bytes."""

    position: int
    """One token of one context in the LLM."""
    page: int
    """A block of a context in the flow: a second."""


@dataclass(frozen=True)
class Share:
    """Who gets what."""

    slots: int
    positions: int
    """Tokens of each slot: as many as were asked for, or as there is room for."""
    flow_bytes: int
    voice_bytes: int
    """The part of ``flow_bytes`` that voices may hold with which nobody speaks."""
    prefix_bytes: int
    """What the beginnings of such voices in the LLM may hold on the device, beside that."""
    host_bytes: int
    """On the host: for contexts that wait, and for voices that have left the device."""
    prefix_host_bytes: int
    """On the host: for beginnings in the LLM that have left the device."""
    features_bytes: int
    """On the host: for what recordings say, of voices of which nothing else is in memory."""
    reserve_bytes: int
    """What should stay free on the device while it works."""


def share_out(settings: EngineSettings, needs: Needs, free: int) -> Share:
    """Slots for as many contexts as the settings allow, or as LLM and flow could have begun.

    ``free`` is what is free on the device. Raises ``ValueError`` where there is not room for a
    single context, or where ``flow_mib`` would not hold what the flow keeps of one.
    """
    asked = settings.cosyvoice
    budget = int(free * asked.gpu_memory_budget)
    working = int(budget * WORKING_SHARE)
    most = asked.flow_mib << 20 if asked.flow_mib else UNBOUNDED
    least = _least_pages(asked.flow_prompt_s) * needs.page
    if most < least:
        raise ValueError(_flow_too_little(asked, least))
    room = budget - working - least
    slot = needs.position * (asked.positions + 1)
    slots = min(settings.slots, room // (slot + PAGES_A_SLOT * needs.page))
    positions = asked.positions
    if slots < 1:
        slots = 1
        positions = min(positions, room // needs.position - 1)
    if positions < min(LEAST_POSITIONS, asked.positions):
        raise ValueError(_too_little(budget, least, needs))
    flow = min(budget - working - slots * needs.position * (positions + 1), most)
    of_host = min(asked.host_mib << 20, int(free_host_bytes() * HOST_SHARE))
    small = int(of_host * SMALL_SHARE)
    return Share(
        slots=slots,
        positions=positions,
        flow_bytes=flow,
        voice_bytes=int(flow * VOICE_SHARE),
        prefix_bytes=int(working * PREFIX_SHARE),
        host_bytes=of_host - small,
        prefix_host_bytes=small,
        features_bytes=max(small, LEAST_FEATURES_BYTES),
        reserve_bytes=min(working, RESERVE_BYTES),
    )


def position_bytes(llm: LlmSizes, dtype: torch.dtype) -> int:
    """Keys and values of one token in all layers."""
    head = llm.hidden // llm.heads
    return 2 * llm.layers * llm.kv_heads * head * dtype.itemsize


def free_host_bytes() -> int:
    """What is free of the host's memory, or what any host has where the system does not tell."""
    told = host.free_bytes()
    return UNKNOWN_HOST_BYTES if told is None else told


def _least_pages(prompt_s: float) -> int:
    return RESERVED + math.ceil(prompt_s) + LEAST_SPEECH_S


def _too_little(budget: int, least: int, needs: Needs) -> str:
    llm = needs.position * (LEAST_POSITIONS + 1)
    wanted = math.ceil((least + llm) / (1 - WORKING_SHARE))
    return (
        f"{_mib(budget)} MiB of the device's memory may be used and one context needs "
        f"{_mib(wanted)}: close other programs, take engine.precision 'fp16' or 'bf16', or lower "
        "engine.cosyvoice.flow_prompt_s"
    )


def _flow_too_little(asked: CosyVoiceSettings, least: int) -> str:
    return (
        f"engine.cosyvoice.flow_mib is {asked.flow_mib}, and what the flow keeps of one context, "
        f"with {asked.flow_prompt_s:g} s of its voice's recording, needs {_mib(least)} MiB: give "
        "it that much, 0 for all that is left, or lower engine.cosyvoice.flow_prompt_s"
    )


def _mib(size: int) -> int:
    return math.ceil(size / (1 << 20))
