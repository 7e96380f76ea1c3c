"""The README's examples run, against the real server, as they stand."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest
from pyclient_command import finish
from recordings import a_recording

README = Path(__file__).parents[3] / "clients" / "python" / "README.md"
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
SCRIPTS = [body for language, body in BLOCKS if language == "python"]
COMMANDS = [
    line
    for language, body in BLOCKS
    if language == "sh"
    for line in body.splitlines()
    if "cosystream " in line and not line.startswith("pip")
]


@pytest.mark.parametrize("script", SCRIPTS)
async def test_a_script_runs(script, tone_server, tmp_path):
    (tmp_path / "me.wav").write_bytes(a_recording())
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-W",
        "error",
        "-c",
        script.replace("http://127.0.0.1:8000", tone_server.url),
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    outcome = await finish(process)
    assert outcome.code == 0, outcome.err
    assert outcome.out
    assert outcome.err == ""


@pytest.mark.parametrize("line", COMMANDS)
async def test_a_command_runs(line, live_server, tone_server, tmp_path):
    (tmp_path / "me.wav").write_bytes(a_recording())
    clones = "cosystream voice " in line
    scripts = Path(sys.executable).parent
    environ = {
        **os.environ,
        "COSYSTREAM_URL": (tone_server if clones else live_server).url,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
    }
    process = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        line,
        cwd=tmp_path,
        env=environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    outcome = await finish(process)
    assert outcome.code == 0, outcome.err
    assert outcome.out or "completed" in outcome.err or "no voices yet" in outcome.err


def test_there_are_examples():
    assert len(SCRIPTS) >= 4
    assert len(COMMANDS) >= 7
