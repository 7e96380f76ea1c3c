"""The parent's end, over a real process that is not one of ours."""

import asyncio
import subprocess
import sys

import pytest
import structlog

from streaming.config import EngineSettings
from streaming.engine.child import LINE_BYTES, Child, environment
from streaming.engine.wire import encode, from_engine
from streaming.messages import Fatal


class Told:
    def __init__(self):
        self.messages = []
        self.gone = asyncio.Event()
        self.child = Child("odd", from_engine(), self.messages.extend, self.gone.set)


async def child_that_runs(program):
    told = Told()
    await asyncio.get_running_loop().subprocess_exec(
        lambda: told.child,
        sys.executable,
        "-c",
        program,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    return told


async def gone(told):
    async with asyncio.timeout(20):
        await told.gone.wait()
    await told.child.close()


async def test_all_it_said_before_it_ended_is_heard():
    said = [Fatal(message=f"number {each}") for each in range(100)]
    told = await child_that_runs(f"import os; os.write(1, {encode(said)!r})")
    await gone(told)
    assert told.messages == said


async def test_one_that_talks_nonsense_is_ended():
    told = await child_that_runs("import time; print('hello', flush=True); time.sleep(60)")
    await gone(told)
    assert told.messages == []


async def test_one_that_reads_nothing_is_ended(monkeypatch):
    monkeypatch.setattr("streaming.engine.child.UNREAD_BYTES", 1 << 16)
    told = await child_that_runs("import time; time.sleep(60)")
    told.child.send(Fatal(message="x" * (1 << 20)))
    await gone(told)


async def test_its_lines_are_logged_as_ours_and_a_librarys_as_they_are():
    program = (
        "import sys; e = sys.stderr\n"
        'e.write(\'{"event": "loaded", "level": "warning", "took_s": 1}\\n\')\n'
        "e.write('plain words\\n{broken\\n')\n"
        f"e.write('y' * {2 * LINE_BYTES})\n"
    )
    with structlog.testing.capture_logs() as logs:
        await gone(await child_that_runs(program))
    assert logs[0] == {"event": "loaded", "log_level": "warning", "took_s": 1, "child": "odd"}
    assert [entry["line"] for entry in logs[1:3]] == ["plain words", "{broken"]
    assert sum(len(entry["line"]) for entry in logs[3:]) == 2 * LINE_BYTES


@pytest.mark.parametrize("allowed", [False, True])
def test_only_who_may_download_finds_the_hub(monkeypatch, allowed):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    made = environment(EngineSettings(allow_downloads=allowed, threads=3))
    assert ("HF_HUB_OFFLINE" in made) is not allowed
    assert made["OMP_NUM_THREADS"] == "3"
