"""Runs the command as a process, as a user's shell would."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 20


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it wrote."""

    code: int
    out: bytes
    err: str


async def start(
    *arguments: str, url: str | None = None, modules: Path | None = None, **pipes: int
) -> asyncio.subprocess.Process:
    """``modules`` is a folder of Python modules that come before the installed ones."""
    environ = {name: value for name, value in os.environ.items() if "COSYSTREAM" not in name}
    if url is not None:
        environ["COSYSTREAM_URL"] = url
    if modules is not None:
        environ["PYTHONPATH"] = str(modules)
    pipes = {"stdin": asyncio.subprocess.DEVNULL, **pipes}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "cosystream",
        *arguments,
        env=environ,
        **{"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE, **pipes},
    )


async def finish(process: asyncio.subprocess.Process, text: bytes | None = None) -> Outcome:
    """Give it ``text``, then the end of its input, and wait."""
    if text is None and process.stdin is not None:
        text = b""  # before Python 3.12 nothing to write would leave the pipe open
    try:
        out, err = await asyncio.wait_for(process.communicate(text), TIMEOUT_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    assert process.returncode is not None
    return Outcome(process.returncode, out or b"", (err or b"").decode())


async def command(*arguments: str, text: bytes | None = None, **options) -> Outcome:
    """Run to the end."""
    if text is not None:
        options["stdin"] = asyncio.subprocess.PIPE
    return await finish(await start(*arguments, **options), text)
