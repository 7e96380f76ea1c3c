"""The host's memory: what is free of it, and whether that is too little for one more listener.

Knows: how Linux tells, for a container too, and how Windows does. Where nobody tells, nothing is
watched. Does not know: what memory is used for.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import structlog

_log = structlog.get_logger("streaming.engine")

DEVICE_SHORT = "device_memory_short"
"""The runner's figure that is 1 while other programs leave it too little of a card's memory."""

_ROOT = Path("/")


def free_bytes(root: Path = _ROOT) -> int | None:
    """What programs could have without anything being swapped out; None where nobody tells."""
    if sys.platform == "win32":
        return _windows()
    told = [_meminfo(root / "proc/meminfo"), *_groups(root)]
    return min((each for each in told if each is not None), default=None)


class MemoryGuard:
    """Says why nobody new should come in, as long as that is so."""

    def __init__(
        self, reserve_bytes: int, free_bytes: Callable[[], int | None] = free_bytes
    ) -> None:
        """``reserve_bytes``: what should stay free of the host's; 0: it is not watched."""
        self._reserve_bytes = reserve_bytes
        self._free_bytes = free_bytes
        self._told = ""

    def short(self, figures: Mapping[str, float]) -> str:
        """In words; empty where there is enough."""
        found = self._host()
        if figures.get(DEVICE_SHORT):
            found = "other programs have left too little of the device's memory"
        if found != self._told:
            _log.warning("memory_short" if found else "memory_enough", why=found or self._told)
            self._told = found
        return found

    def _host(self) -> str:
        if not self._reserve_bytes:
            return ""
        free = self._free_bytes()
        if free is None or free >= self._reserve_bytes:
            return ""
        return "too little of the host's memory is free"


def _meminfo(path: Path) -> int | None:
    """proc(5): ``MemAvailable`` counts what the system would give back of its caches."""
    for line in _lines(path):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return None


def _groups(root: Path) -> list[int | None]:
    """What each control group that this process is in leaves it (version 2)."""
    own = next((line[3:] for line in _lines(root / "proc/self/cgroup") if line[:3] == "0::"), None)
    if own is None:
        return []
    top = root / "sys/fs/cgroup"
    inner = top / own.lstrip("/")
    return [_group(folder) for folder in (inner, *inner.parents) if folder.is_relative_to(top)]


def _group(folder: Path) -> int | None:
    most, used = (_lines(folder / name) for name in ("memory.max", "memory.current"))
    if not used or not most or most[0] == "max":
        return None
    stat = dict(line.split() for line in _lines(folder / "memory.stat"))
    return int(most[0]) - int(used[0]) + int(stat.get("inactive_file", 0))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except OSError:
        return []


class _Status(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("physical", ctypes.c_uint64),
        ("physical_free", ctypes.c_uint64),
        ("page_file", ctypes.c_uint64),
        ("page_file_free", ctypes.c_uint64),
        ("virtual", ctypes.c_uint64),
        ("virtual_free", ctypes.c_uint64),
        ("extended_free", ctypes.c_uint64),
    )


def _windows() -> int | None:
    status = _Status(length=ctypes.sizeof(_Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - mypy knows it on Windows alone
    told = kernel.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.physical_free) if told else None
