"""How much CPU and memory the server and the processes it started use, from Linux's ``/proc``.

Knows: ``/proc``. Does not know: what those processes do. On other systems it reports nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

_PROC = Path("/proc")


class Use(NamedTuple):
    """CPU seconds since the start (user and system), and resident memory."""

    cpu_s: float
    rss_bytes: int


def server_use(proc: Path = _PROC) -> Use | None:
    """This process alone; None where ``/proc`` does not tell."""
    stat = _read_stat(proc, os.getpid())
    return None if stat is None else stat.use


def workers_use(proc: Path = _PROC) -> Use | None:
    """All descendants of this process, with the CPU time of children that have ended."""
    own = _read_stat(proc, os.getpid())
    if own is None:
        return None
    living = [stat for pid in _descendants(proc, os.getpid()) if (stat := _read_stat(proc, pid))]
    return Use(
        cpu_s=own.ended_children_cpu_s + sum(stat.use.cpu_s for stat in living),
        rss_bytes=sum(stat.use.rss_bytes for stat in living),
    )


class ProcessCollector(Collector):
    """``cosystream_cpu_seconds_total`` and ``cosystream_resident_memory_bytes``, by process."""

    def __init__(self, proc: Path = _PROC) -> None:
        self._proc = proc

    def collect(self) -> Iterator[Metric]:
        """The two families; empty ones where the system does not tell."""
        cpu = CounterMetricFamily(
            "cosystream_cpu_seconds", "CPU time used, user and system", labels=["process"]
        )
        memory = GaugeMetricFamily(
            "cosystream_resident_memory_bytes", "Resident memory", labels=["process"]
        )
        for process, use in (
            ("server", server_use(self._proc)),
            ("workers", workers_use(self._proc)),
        ):
            if use is not None:
                cpu.add_metric([process], use.cpu_s)
                memory.add_metric([process], use.rss_bytes)
        yield cpu
        yield memory


class _Stat(NamedTuple):
    use: Use
    ended_children_cpu_s: float


def _read_stat(proc: Path, pid: int) -> _Stat | None:
    """proc(5), ``/proc/PID/stat``: fields 14 to 17 are ticks, 24 is resident pages."""
    try:
        text = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it ended, or there is no /proc here
        return None
    fields = text.rpartition(")")[2].split()
    user, system, children_user, children_system = (int(ticks) for ticks in fields[11:15])
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    return _Stat(
        Use((user + system) / ticks_per_s, int(fields[21]) * os.sysconf("SC_PAGE_SIZE")),
        (children_user + children_system) / ticks_per_s,
    )


def _descendants(proc: Path, pid: int) -> Iterator[int]:
    for child in _children(proc, pid):
        yield child
        yield from _descendants(proc, child)


def _children(proc: Path, pid: int) -> Iterator[int]:
    """The kernel lists a child under the thread that started it."""
    try:
        threads = list((proc / str(pid) / "task").iterdir())
    except OSError:
        return
    for thread in threads:
        try:
            yield from map(int, (thread / "children").read_text(encoding="ascii").split())
        except OSError:
            continue
