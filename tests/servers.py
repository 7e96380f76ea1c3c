"""A server of its own process, on a port the system chose, for tests over real sockets."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from talk import eventually

ROOT = Path(__file__).resolve().parent.parent
READY_TIMEOUT_S = 60
CAPACITY = 60_000
"""Nobody is refused because the machine that runs the tests is busy; who wants to be says so."""


@dataclass
class LiveServer:
    """A running ``python -m server``."""

    url: str
    process: subprocess.Popen[bytes]
    log_path: Path
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def ws_url(self) -> str:
        """The native protocol's address."""
        return self.url.replace("http", "ws", 1) + "/v1/stream"

    @property
    def log(self) -> str:
        """Everything it has logged so far."""
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def get(self, path: str) -> bytes:
        """The body of a GET; raises on an error status."""
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return answer.read()

    def try_get(self, path: str) -> tuple[int, bytes]:
        """Status and body of a GET, whatever they are; status 0 where nobody answers."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()
        except (urllib.error.URLError, ConnectionError):
            return 0, b""

    def metric(self, name: str) -> float:
        """A figure as /metrics tells it."""
        lines = self.get("/metrics").decode().splitlines()
        return float(
            next(line.split()[1] for line in lines if line.startswith(f"cosystream_{name} "))
        )

    async def free_slots_at_rest(self) -> float:
        """Those while nobody speaks: what is told may still be of those who spoke before."""
        await eventually(lambda: self.metric("engine_contexts") == 0)
        return self.metric("free_slots")

    def wait_ready(self, timeout_s: float = READY_TIMEOUT_S) -> float:
        """Until ``/readyz`` says so; how many seconds that took."""
        began, body = time.monotonic(), b""
        while time.monotonic() - began < timeout_s:
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended early:\n{self.log}")
            status, body = self.try_get("/readyz")
            if status == 200:
                return time.monotonic() - began
            if b"failed" in body:
                raise AssertionError(f"it will never be ready:\n{self.log}")
            time.sleep(0.02)
        raise AssertionError(f"not ready after {timeout_s} s: {body!r}\n{self.log}")

    def stop(self) -> int:
        """Ask it to end, wait, and tell its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(timeout=5)


@contextmanager
def loading(server: LiveServer) -> Iterator[None]:
    """Meanwhile its engine, which was started just now, gets no further, however quick it is."""
    while not (engines := [each for each in _processes(server) if "engine" in each.cmdline()]):
        assert server.process.poll() is None, server.log
        time.sleep(0.005)
    engines[0].suspend()
    try:
        yield
    finally:
        engines[0].resume()


def _processes(server: LiveServer) -> list[psutil.Process]:
    return psutil.Process(server.process.pid).children(recursive=True)


def free_port() -> int:
    """A port nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


StartServer = Callable[..., LiveServer]


def start(directory: Path, *, wait: bool = True, **settings: object) -> LiveServer:
    """Start a server; settings as ``section__key=value``, for example ``engine__runner="tone"``."""
    port = free_port()
    settings = {"engine__capacity": CAPACITY} | settings
    environ = {
        **os.environ,
        "COSYSTREAM__ENGINE__VOICES_DIR": str(directory / "voices"),
        **{f"COSYSTREAM__{name.upper()}": str(value) for name, value in settings.items()},
        "COSYSTREAM__LISTEN__PORT": str(port),
    }
    log_path = directory / f"server-{port}.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "server"],
            cwd=ROOT,
            env=environ,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
    server = LiveServer(f"http://127.0.0.1:{port}", process, log_path)
    if wait:
        try:
            server.wait_ready()
        except BaseException:
            server.stop()
            raise
    return server
