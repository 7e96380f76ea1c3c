"""CosyVoice over the WebSocket, with tiny random networks: noise comes out, every promise holds."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import httpx
import numpy as np
import pytest
from conversations import converse
from recordings import a_recording
from servers import LiveServer, start
from talk import Audio, decode_opus, eventually, talking

from streaming.cosyvoice.sizes import Generation

pytestmark = pytest.mark.skipif(
    find_spec("torch") is None, reason="torch is not installed: make setup-cosyvoice"
)

UNPACED = {"pacing": {"lead_ms": None}}
PCM = {"audio": {"codec": "pcm_s16le"}, **UNPACED}
SPEECH_S = 90.0
"""Random networks do not know when to stop, and the machine may be busy."""


async def test_it_says_what_it_is_and_who_speaks(either: LiveServer) -> None:
    async with httpx.AsyncClient(base_url=either.url) as client:
        listed = (await client.get("/v1/voices")).json()
    assert {voice["id"] for voice in listed["voices"]} >= {"starter-english", "starter-mandarin"}
    assert listed["default"] == "starter-english"


async def test_text_goes_in_and_opus_comes_out_without_a_hole(either: LiveServer) -> None:
    async with talking(either.ws_url, UNPACED) as talk:
        await talk.send("open", ctx="a")
        for delta in ("Hel", "lo th", "ere. ", "And ", "you."):
            await talk.send("text", ctx="a", delta=delta)
        await talk.send("end", ctx="a")
        done = await talk.until("done", timeout_s=SPEECH_S)
    packets = talk.audio()
    assert [packet.seq for packet in packets] == sorted({packet.seq for packet in packets})
    starts = [packet.pts for packet in packets]
    assert starts == [starts[0] + 3_840 * index for index in range(len(starts))]
    assert (packets[0].first, packets[-1].last) == (True, True)
    samples = decode_opus(packets)
    assert len(samples) / 48_000 == pytest.approx(done["audio_ms"] / 1000, abs=0.1)
    assert np.abs(samples).max() > 0.001
    assert [each["index"] for each in talk.events("segment")] == [0, 1]


async def test_the_same_seed_says_the_same_whoever_else_speaks(server: LiveServer) -> None:
    async def one(seed: int) -> np.ndarray:
        async with talking(server.ws_url, PCM) as talk:
            await talk.send("open", ctx="a", seed=seed)
            await talk.send("text", ctx="a", delta="One, two.")
            await talk.send("end", ctx="a")
            await talk.until("done", timeout_s=SPEECH_S)
            return talk.pcm().astype(np.int32)

    alone = await one(1)
    together = await asyncio.gather(*(one(seed) for seed in (1, 2, 3)))
    assert len(together[0]) == len(alone)
    assert np.abs(together[0] - alone).max() <= 4
    assert not np.array_equal(together[0], together[1])


async def test_after_cancelled_nothing_is_heard_and_its_slot_is_free(either: LiveServer) -> None:
    before = await either.free_slots_at_rest()
    async with talking(either.ws_url, PCM) as talk:
        await talk.send("open", ctx="a")
        await talk.send("text", ctx="a", delta="This is a longer sentence, to be interrupted. ")
        await talk.until("segment", timeout_s=SPEECH_S)
        await talk.send("cancel", ctx="a")
        await talk.until("cancelled")
        assert not [each for each in await talk.quiet(0.5) if isinstance(each, Audio)]
    await eventually(lambda: either.metric("free_slots") == before, 20)


async def test_random_conversations_keep_every_promise(server: LiveServer) -> None:
    before = await server.free_slots_at_rest()
    how = {"acts": 50, "longest_s": 1.0, "patience_s": SPEECH_S}
    await asyncio.gather(*(converse(server, seed, None, **how) for seed in range(4)))
    await eventually(lambda: server.metric("engine_contexts") == 0)
    await eventually(lambda: server.metric("free_slots") == before)


async def test_text_that_pauses_in_mid_sentence_harms_nobody(server: LiveServer) -> None:
    async with talking(server.ws_url, PCM) as slow, talking(server.ws_url, PCM) as quick:
        await slow.send("open", ctx="s", text_mode="sentence")
        await slow.send("text", ctx="s", delta="I am thinking ")
        await quick.send("open", ctx="q")
        await quick.send("text", ctx="q", delta="I am not.")
        await quick.send("end", ctx="q")
        await quick.until("done", timeout_s=SPEECH_S)
        assert not slow.audio()
        await slow.send("text", ctx="s", delta="again.")
        await slow.send("end", ctx="s")
        await slow.until("done", timeout_s=SPEECH_S)
        assert len(slow.events("segment")) == 1


async def test_a_voice_made_of_a_recording_speaks_and_can_be_removed(server: LiveServer) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=SPEECH_S) as client:
        form = {"name": "Mine", "transcript": "A recording of five seconds.", "consent": "My own."}
        answer = await client.post(
            "/v1/voices", data=form, files={"audio": ("a.wav", a_recording(), "audio/wav")}
        )
        assert answer.status_code == 201, answer.text
        voice = answer.json()["id"]
        async with talking(server.ws_url, PCM) as talk:
            await talk.send("open", ctx="a", voice=voice)
            await talk.send("text", ctx="a", delta="Hello.")
            await talk.send("end", ctx="a")
            await talk.until("done", timeout_s=SPEECH_S)
            assert np.abs(talk.pcm()).max() > 10
        assert (await client.delete(f"/v1/voices/{voice}")).status_code == 204


async def test_options_are_taken_and_none_is_dropped_unseen(either: LiveServer) -> None:
    async with talking(either.ws_url, PCM) as talk:
        await talk.send("open", ctx="a", speed=1.5, instruct="Happily.", language="en", seed=4)
        await talk.send("text", ctx="a", delta="Hello.")
        await talk.send("end", ctx="a")
        await talk.until("done", timeout_s=SPEECH_S)
    assert not talk.events("warning")


async def test_an_engine_that_dies_is_told_and_comes_back(server: LiveServer) -> None:
    async with talking(server.ws_url, PCM) as talk:
        await talk.send("open", ctx="a")
        await talk.send("text", ctx="a", delta="This one will not be heard to its end. ")
        await talk.until("segment", timeout_s=SPEECH_S)
        os.kill(engine_of(server), signal.SIGKILL)
        error = await talk.until("error", ctx="a")
        assert (error["code"], error["retryable"]) == ("engine_restarted", True)
    await asyncio.to_thread(server.wait_ready)
    async with talking(server.ws_url, PCM) as talk:
        await talk.send("open", ctx="b")
        await talk.send("text", ctx="b", delta="Again.")
        await talk.send("end", ctx="b")
        await talk.until("done", timeout_s=SPEECH_S)


def engine_of(server: LiveServer) -> int:
    import psutil  # noqa: PLC0415 - of this test alone

    children = psutil.Process(server.process.pid).children()
    (engine,) = (child for child in children if "engine" in child.cmdline()[3:4])
    return engine.pid


def test_without_a_gpu_cuda_is_refused_in_words(
    checkpoint_of: Callable[[Generation], Path], tmp_path: Path
) -> None:
    import torch  # noqa: PLC0415 - the module may be collected without

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    live = start(
        tmp_path, wait=False, engine__model=checkpoint_of("cosyvoice3"), engine__device="cuda"
    )
    try:
        with pytest.raises(AssertionError, match=r"engine.device is 'cuda', but this torch"):
            live.wait_ready()
    finally:
        live.stop()


def test_the_log_says_in_one_line_where_and_how_each_network_runs(either: LiveServer) -> None:
    lines = [json.loads(line) for line in either.log.splitlines() if line.startswith("{")]
    said = next(line for line in lines if line["event"] == "ready_to_speak")
    assert said["generation"] in {"cosyvoice2", "cosyvoice3"}
    assert (said["device"], said["precision"]) == ("cpu", "fp32")
    how = {said[stage] for stage in ("llm", "flow", "vocoder")}
    assert how == {"eager on cpu: graphs are captured on CUDA alone"}
