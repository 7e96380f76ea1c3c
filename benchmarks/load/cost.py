"""What a run costs: processor time and memory of the server's processes and of our own.

A server on this machine is found by who listens on its port, and counted with its children; any
other by its ``/metrics``.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from typing import Self

import psutil

from benchmarks.load import told
from benchmarks.load.options import Options

_SAMPLE_S = 0.5


@dataclass
class Tally:
    """Processor seconds and peak memory of a process and its children, from samples."""

    root: int
    _first_s: dict[int, float] = field(default_factory=dict)
    _last_s: dict[int, float] = field(default_factory=dict)
    rss_peak_bytes: int = 0

    def sample(self, *, beginning: bool = False) -> None:
        """Look once. A child that appears later counts from its start."""
        rss_bytes = 0
        for process in _family(self.root):
            try:
                with process.oneshot():
                    times = process.cpu_times()
                    rss_bytes += process.memory_info().rss
            except psutil.Error:
                continue  # it ended between the listing and the look
            used_s = times.user + times.system
            self._first_s.setdefault(process.pid, used_s if beginning else 0.0)
            self._last_s[process.pid] = used_s
        self.rss_peak_bytes = max(self.rss_peak_bytes, rss_bytes)

    @property
    def cpu_s(self) -> float:
        """Used since the beginning, by those that have ended too."""
        return sum(last_s - self._first_s[pid] for pid, last_s in self._last_s.items())


class CostWatch:
    """Samples in a thread of its own while a run goes on."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._client = Tally(psutil.Process().pid)
        server = _listening_on(options.port) if options.local else None
        self._server = Tally(server) if server is not None else None
        self._metrics_begun = None if self._server else _metrics(options.url)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="cost", daemon=True)
        self._begun_s = 0.0

    def __enter__(self) -> Self:
        """Begin."""
        self._begun_s = time.perf_counter()
        self._look(beginning=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Look a last time."""
        self._stop.set()
        self._thread.join()
        self._look()
        self._wall_s = time.perf_counter() - self._begun_s

    @property
    def client(self) -> dict[str, float]:
        """Our own share."""
        return {"cpu_cores": round(self._client.cpu_s / self._wall_s, 3)}

    @property
    def server(self) -> dict[str, float | None]:
        """The server's; ``None`` where it cannot be known."""
        if self._server is not None:
            return {
                "cpu_cores": round(self._server.cpu_s / self._wall_s, 3),
                "rss_mib": round(self._server.rss_peak_bytes / 2**20, 1),
            }
        ended = _metrics(self._options.url)
        if self._metrics_begun is None or ended is None:
            return {"cpu_cores": None, "rss_mib": None}
        cpu_s = ended[0] - self._metrics_begun[0]
        return {
            "cpu_cores": round(cpu_s / self._wall_s, 3),
            "rss_mib": round(ended[1] / 2**20, 1),
        }

    def _watch(self) -> None:
        while not self._stop.wait(_SAMPLE_S):
            self._look()

    def _look(self, *, beginning: bool = False) -> None:
        self._client.sample(beginning=beginning)
        if self._server is not None:
            self._server.sample(beginning=beginning)


def _family(root: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(root)
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def _listening_on(port: int) -> int | None:
    """The process that listens on ``port``, if we may know it."""
    try:
        connections = psutil.net_connections("tcp")
    except psutil.Error:
        return None
    listening = (c for c in connections if c.status == psutil.CONN_LISTEN and c.laddr.port == port)
    return next((c.pid for c in listening if c.pid), None)


def _metrics(url: str) -> tuple[float, float] | None:
    """Processor seconds and resident bytes of all its processes, as ``/metrics`` tells them."""
    if (text := told.page(url)) is None:
        return None
    cpu_s, rss_bytes = (
        [float(value) for value in re.findall(rf"^{name}{{.*}} (\S+)$", text, re.MULTILINE)]
        for name in ("cosystream_cpu_seconds_total", "cosystream_resident_memory_bytes")
    )
    return (sum(cpu_s), sum(rss_bytes)) if cpu_s and rss_bytes else None
