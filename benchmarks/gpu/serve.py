"""The cases over WebSockets: the real server in a process of its own, and the load generator.

Knows: how a server is started, asked and ended. Does not know: what a session measures.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.gpu.cases import failure
from benchmarks.gpu.options import Options
from benchmarks.load import __main__ as load
from benchmarks.load.options import Options as Load
from benchmarks.models.voices import Made
from server.config.keys import flat
from server.settings import ListenSettings, Settings

ROOT = Path(__file__).parents[2]
READY_S = 600.0
END_S = 30.0
SPEAK_S = 60.0
SPEAKERS = 4
SESSIONS_A_PROCESS = 64
"""One process of the load generator is not asked for more."""

LOG_LINES = 20


def run(options: Options, made: Made, device_name: str, until_s: float) -> Iterator[dict[str, Any]]:
    """A case after another on one server."""
    with tempfile.TemporaryDirectory() as folder, _server(options, made, Path(folder)) as server:
        _speak_with_each(server.url, made.voices)
        for count in options.cases:
            about: dict[str, Any] = {
                "device": device_name,
                "contexts": count,
                **options.about,
            }
            if time.monotonic() + options.seconds > until_s:
                yield about | {"left_out": "no time is left"}
                continue
            try:
                server.wait_ready()  # it may have had to start its engine anew
                yield about | _case(options, made, server.url, count)
            except Exception as error:  # noqa: BLE001 - whatever it is, the other cases are told
                yield about | failure(error)


def _speak_with_each(url: str, voices: Sequence[str]) -> None:
    """So that every voice is there before anything is measured."""
    with ThreadPoolExecutor(SPEAKERS) as pool:
        list(
            pool.map(
                lambda voice: _speak(f"{url}/v1/speak?text=Hi.&format=wav&voice={voice}"), voices
            )
        )


def _speak(address: str) -> None:
    # A refusal is no harm: that voice's first context will be the one that waits for it.
    with (
        contextlib.suppress(urllib.error.HTTPError),
        urllib.request.urlopen(address, timeout=SPEAK_S) as answer,  # noqa: S310 - our own server
    ):
        answer.read()


def _case(options: Options, made: Made, url: str, count: int) -> dict[str, Any]:
    found = load.measure(
        Load(
            url=url,
            sessions=count,
            seconds=options.seconds,
            voices=made.voices,
            processes=min(os.cpu_count() or 1, -(-count // SESSIONS_A_PROCESS)),
        )
    )
    kept = (
        "first_packet_ms", "ttfa_ms", "server_first_packet_ms", "c100", "worst_underrun_ms",
        "audio_s_per_s", "errors", "outcomes", "seconds", "server",
    )  # fmt: skip
    return {"heard": found["contexts"], **{name: found[name] for name in kept}}


@dataclass(frozen=True)
class _Running:
    """A server, and where it writes what it has to say."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def wait_ready(self) -> None:
        """Raises ``RuntimeError`` with the end of its log where it does not get so far."""
        until_s = time.monotonic() + READY_S
        while time.monotonic() < until_s:
            body = _get(f"{self.url}/readyz")
            if body is not None and "failed" not in body:
                return
            if self.process.poll() is not None or body is not None:
                break
            time.sleep(0.2)
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
        raise RuntimeError("\n".join(["the server did not get ready:", *lines]))


@contextlib.contextmanager
def _server(options: Options, made: Made, folder: Path) -> Iterator[_Running]:
    """One that is ready; it is ended on the way out."""
    url = f"http://127.0.0.1:{(port := _free_port())}"
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "server"],
            cwd=ROOT,
            env={**os.environ, **environment(options, made, port)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    running = _Running(url, process, log)
    try:
        running.wait_ready()
        yield running
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def environment(options: Options, made: Made, port: int) -> dict[str, str]:
    """The settings that a run decides, as the server reads them."""
    engine = replace(options.engine(made.checkpoint, made.voices_dir), load_timeout_s=READY_S)
    usual = flat(Settings())
    chosen = flat(Settings(listen=ListenSettings(port=port), engine=engine))
    return {
        f"COSYSTREAM__{name.replace('.', '__').upper()}": str(value)
        for name, value in chosen.items()
        if value != usual[name]
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _get(address: str) -> str | None:
    """The body; None where nobody answers, or not yet."""
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310 - our own server
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            text = error.read().decode(errors="replace")
            return text if "failed" in text else None
    except OSError:
        return None
