"""Recordings handed in, made prompts of by a real process, whatever becomes of it."""

from __future__ import annotations

import asyncio
import contextlib

import numpy as np
import psutil
import pytest
from engines import until
from prompt_sounds import RATE, file_of, speech, speech_of
from structlog.testing import capture_logs

from streaming.config import EngineSettings
from streaming.cosyvoice import tiny_onnx
from streaming.cosyvoice.folder import Layout
from streaming.cosyvoice.prompt import recording
from streaming.cosyvoice.prompt.features import PromptFeatures
from streaming.engine import desk as desk_module
from streaming.engine.child import spawn
from streaming.engine.desk import DeskLimits, PromptDesk
from streaming.errors import (
    BadRecording,
    CosystreamError,
    GoingAway,
    Internal,
    NotAudio,
    Overloaded,
    SilentRecording,
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A checkpoint folder as far as recordings go."""
    folder = tmp_path_factory.mktemp("model")
    rng = np.random.default_rng(0)
    files = Layout(folder, "cosyvoice3")
    files.yaml.write_text("")
    files.speech_tokenizer.write_bytes(tiny_onnx.speech_tokenizer(rng))
    files.campplus.write_bytes(tiny_onnx.campplus(rng))
    return str(folder)


@contextlib.asynccontextmanager
async def desk_of(model, **limits):
    desk = PromptDesk(EngineSettings(model=model), limits=DeskLimits(**limits))
    try:
        yield desk
    finally:
        await desk.close()


@contextlib.contextmanager
def halted(desk):
    """Its process does nothing meanwhile, as one does that hangs."""
    process = psutil.Process(desk.pid)
    process.suspend()
    try:
        yield process
    finally:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.resume()


async def under_way(desk, data):
    """A request that is with the process."""
    task = asyncio.create_task(desk.make(data))
    await until(lambda: desk._answer is not None)
    return task


async def test_a_recording_becomes_a_prompt(model):
    async with desk_of(model) as desk:
        assert desk.pid is None
        made = await desk.make(file_of(speech(), "MP3"))
        features = PromptFeatures.from_bytes(made.features)
        assert features.model == desk.model
        assert len(features.tokens) == made.duration_ms * 25 // 1000
        assert len(recording.from_wav(made.wav)) == pytest.approx(made.duration_ms * 24, abs=24)
        assert made.warnings == ()


async def test_the_same_recording_has_the_same_digest_in_any_lossless_file(model):
    async with desk_of(model) as desk:
        wav, flac = [await desk.make(file_of(speech(), kind)) for kind in ("WAV", "FLAC")]
        other = await desk.make(file_of(speech_of(3.0)))
        assert wav.digest == flac.digest != other.digest
        assert wav.features == flac.features


async def test_a_refusal_keeps_its_kind_and_the_next_is_served_by_the_same_process(model):
    async with desk_of(model) as desk:
        with pytest.raises(SilentRecording, match="microphone"):
            await desk.make(file_of(np.zeros(RATE * 2, np.float32)))
        first = desk.pid
        with pytest.raises(NotAudio):
            await desk.make(b"nothing of the kind")
        await desk.make(file_of(speech_of(2.0)))
        assert desk.pid == first


async def test_one_that_breaks_the_process_is_refused_and_the_next_finds_a_new_one(model):
    async with desk_of(model) as desk:
        await desk.make(file_of(speech_of(2.0)))
        with halted(desk) as process:
            task = await under_way(desk, file_of(speech_of(2.0)))
            process.kill()
            with pytest.raises(BadRecording, match="broke down"):
                await task
        await desk.make(file_of(speech_of(2.0)))
        assert desk.pid != process.pid


async def test_one_that_takes_too_long_is_refused_and_its_process_ended(model):
    async with desk_of(model) as desk:
        await desk.make(file_of(speech_of(2.0)))
        desk._limits = DeskLimits(recording_s=0.3)
        with halted(desk) as process, pytest.raises(BadRecording, match=r"within 0\.3 s"):
            await desk.make(file_of(speech_of(2.0)))
        await until(lambda: not process.is_running())
        desk._limits = DeskLimits()
        await desk.make(file_of(speech_of(2.0)))


async def test_beyond_its_room_nobody_waits(model):
    async with desk_of(model, waiting=2) as desk:
        await desk.make(file_of(speech_of(2.0)))
        with halted(desk):
            tasks = [await under_way(desk, file_of(speech_of(2.0)))]
            tasks.append(asyncio.create_task(desk.make(file_of(speech_of(3.0)))))
            await asyncio.sleep(0)
            with pytest.raises(Overloaded) as refusal:
                await desk.make(file_of(speech_of(2.0)))
            assert refusal.value.retry_after_ms
        made = await asyncio.gather(*tasks)
        assert [round(prompt.duration_ms, -3) for prompt in made] == [2000, 3000]
        await desk.make(file_of(speech_of(2.0)))


async def test_nor_beyond_its_bytes(model):
    async with desk_of(model, waiting_bytes=300_000) as desk:
        await desk.make(file_of(speech()))
        with halted(desk):
            task = await under_way(desk, file_of(speech_of(4.0)))
            with pytest.raises(Overloaded):
                await desk.make(file_of(speech_of(4.0)))
        await task


async def test_who_leaves_takes_nobodys_answer_along(model):
    async with desk_of(model) as desk:
        await desk.make(file_of(speech_of(2.0)))
        with halted(desk):
            gone = await under_way(desk, file_of(speech_of(2.0)))
            waits = asyncio.create_task(desk.make(file_of(speech_of(4.0))))
            bored = asyncio.create_task(desk.make(file_of(speech_of(5.0))))
            stays = asyncio.create_task(desk.make(file_of(speech_of(3.0))))
            await asyncio.sleep(0)
            for task in (gone, bored):
                task.cancel()
            await asyncio.wait([gone, bored])
        assert round((await waits).duration_ms, -3) == 4000
        assert round((await stays).duration_ms, -3) == 3000
        assert desk._waiting == desk._waiting_bytes == 0


async def test_a_process_without_work_is_let_go(model):
    async with desk_of(model, idle_s=0.05) as desk:
        await desk.make(file_of(speech_of(2.0)))
        await until(lambda: desk.pid is None)
        await desk.make(file_of(speech_of(2.0)))


async def test_a_process_that_never_comes_up_is_not_blamed_on_the_recording(model, monkeypatch):
    async def spawn_another(child, kind, settings):
        del kind
        await spawn(child, "text", settings)  # it makes nothing of what it is asked, and ends

    monkeypatch.setattr(desk_module, "spawn", spawn_another)
    async with desk_of(model) as desk:
        with pytest.raises(Internal, match="does not start"):
            await desk.make(file_of(speech_of(2.0)))
        monkeypatch.undo()
        await desk.make(file_of(speech_of(2.0)))


async def test_a_system_without_room_for_a_process_is_an_answer_too(model, monkeypatch):
    async def refuse(*_):
        raise OSError("too many processes")

    monkeypatch.setattr(desk_module, "spawn", refuse)
    async with desk_of(model) as desk:
        with pytest.raises(Internal, match="too many processes"):
            await desk.make(file_of(speech_of(2.0)))
        monkeypatch.undo()
        await desk.make(file_of(speech_of(2.0)))


@pytest.mark.parametrize("folder", [None, "/nowhere/at/all"])
async def test_without_networks_it_says_why(folder):
    async with desk_of(folder) as desk:
        with pytest.raises(Internal, match="no voice can be made"):
            await desk.make(file_of(speech_of(2.0)))


async def test_a_fault_of_the_networks_is_ours_and_goes_to_the_log(tmp_path):
    for path in ("speech_tokenizer_v3.onnx", "campplus.onnx", "cosyvoice3.yaml"):
        (tmp_path / path).write_bytes(b"")
    with capture_logs() as logs:
        async with desk_of(str(tmp_path)) as desk:
            with pytest.raises(CosystreamError, match="the log says why") as refusal:
                await desk.make(file_of(speech_of(2.0)))
    assert refusal.value.code == Internal.code
    assert [entry["event"] for entry in logs] == ["prompt_not_made"]


async def test_what_a_decoder_prints_about_a_bad_file_is_not_logged(model):
    broken = bytearray(file_of(speech_of(3.0), "MP3"))
    broken[3000:9000] = bytes(range(250)) * 24
    with capture_logs() as logs:
        async with desk_of(model) as desk:
            with contextlib.suppress(BadRecording):
                await desk.make(bytes(broken))
    assert logs == []


async def test_closing_tells_those_who_wait_and_ends_the_process(model):
    async with desk_of(model) as desk:
        await desk.make(file_of(speech_of(2.0)))
        with halted(desk) as process:
            tasks = [await under_way(desk, file_of(speech_of(2.0)))]
            tasks.append(asyncio.create_task(desk.make(file_of(speech_of(2.0)))))
            await asyncio.sleep(0)
            await desk.close()
            for task in tasks:
                with pytest.raises(GoingAway):
                    await task
        assert not process.is_running()
        with pytest.raises(GoingAway):
            await desk.make(file_of(speech_of(2.0)))
