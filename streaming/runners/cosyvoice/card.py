"""What is free of a GPU's memory, as its driver tells it, and what to do when it becomes little.

The driver (NVML) counts every program on the card. Where it cannot be asked, CUDA is, and the log
says so. Knows: how to ask, how often. Does not know: who uses how much.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

import torch

from streaming.engine.notes import note

EVERY_S = 3.0
"""The card is not asked more often than this."""


class Gauge(Protocol):
    """Something that can be asked."""

    @property
    def source(self) -> str:
        """Its name, for the log."""
        ...

    def free_bytes(self) -> int:
        """Of the card's memory, with all programs on it."""
        ...


class CudaGauge:
    """CUDA, asked through torch."""

    source = "cuda"

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def free_bytes(self) -> int:
        """As CUDA tells it."""
        free, _ = torch.cuda.mem_get_info(self._device)
        return free


class NvmlGauge:
    """The driver, asked through ``nvidia-ml-py``; CUDA from the first time on that it fails."""

    def __init__(self, nvml: ModuleType, uuid: str, instead: Gauge) -> None:
        """Raises ``nvml.NVMLError`` where there is no driver, or no such card."""
        self._nvml = nvml
        self._instead = instead
        self._failed = False
        nvml.nvmlInit()
        self._card: Any = nvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid.removeprefix('GPU-')}")
        self.free_bytes()

    @property
    def source(self) -> str:
        """Who is asked now."""
        return self._instead.source if self._failed else "nvml"

    def free_bytes(self) -> int:
        """As the driver tells it."""
        if not self._failed:
            try:
                return int(self._nvml.nvmlDeviceGetMemoryInfo(self._card).free)
            except self._nvml.NVMLError as error:
                self._failed = True
                _tell(error, self._instead)
        return self._instead.free_bytes()


def gauge_of(device: torch.device) -> Gauge:
    """The best there is for that CUDA device."""
    # A card is known by its UUID: programs may be shown cards in another order, or only some.
    uuid = str(torch.cuda.get_device_properties(device).uuid)
    return gauge(uuid, CudaGauge(device))


def gauge(uuid: str, instead: Gauge) -> Gauge:
    """The driver's figures for the card of that UUID, else ``instead``'s, and the log says why."""
    try:
        import pynvml  # noqa: PLC0415 - of an extra that may not be installed
    except ImportError:
        _tell("nvidia-ml-py is not installed", instead)
        return instead
    try:
        return NvmlGauge(pynvml, uuid, instead)
    except pynvml.NVMLError as error:
        _tell(error, instead)
        return instead


def _tell(why: object, instead: Gauge) -> None:
    note("nvml_not_used", level="warning", why=str(why), instead=instead.source)


class Watch:
    """Other programs take memory too: below ``least_bytes`` what can be spared is let go of."""

    def __init__(
        self,
        gauge: Gauge,
        least_bytes: int,
        spare: Callable[[], int],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """``spare`` gives up what nobody needs now, and tells how many bytes that was."""
        self._gauge = gauge
        self._least_bytes = least_bytes
        self._spare = spare
        self._now = now
        self._due_s = float("-inf")
        self._free_bytes = 0

    @property
    def short(self) -> bool:
        """Whether there was too little when it was last asked."""
        return self._free_bytes < self._least_bytes

    def free_bytes(self) -> int:
        """Of the card's memory, some seconds ago at most."""
        if self._now() >= self._due_s:
            self._due_s = self._now() + EVERY_S
            self._free_bytes = self._gauge.free_bytes()
            if self._free_bytes < self._least_bytes:
                self._make_room()
        return self._free_bytes

    def _make_room(self) -> None:
        freed = self._spare()
        if freed:
            note(
                "device_memory_short",
                level="warning",
                free_mib=self._free_bytes >> 20,
                voices_let_go_mib=freed >> 20,
            )
