"""A model that nobody spoke with gives its memory back; who comes next waits, and is told so."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from servers import LiveServer, start
from talk import eventually, talking

pytestmark = pytest.mark.skipif(
    find_spec("torch") is None, reason="torch is not installed: make setup-cosyvoice"
)

SPEECH_S = 90.0


@pytest.fixture
def resting(tmp_path: Path) -> Iterator[LiveServer]:
    from streaming.cosyvoice.tiny import write  # noqa: PLC0415 - needs torch

    write(tmp_path / "model")
    live = start(
        tmp_path,
        engine__model=tmp_path / "model",
        engine__device="cpu",
        engine__slots=2,
        engine__unload_after_s=0.2,
        engine__cosyvoice__flow_mib=128,
    )
    yield live
    live.stop()


async def test_the_first_packet_after_a_rest_is_told_with_the_loading(resting: LiveServer) -> None:
    await eventually(lambda: "model_unloaded" in resting.log, SPEECH_S)
    await eventually(lambda: b'figure="voice_bytes"' not in resting.get("/metrics"), SPEECH_S)
    assert resting.try_get("/readyz")[0] == 200
    async with talking(resting.ws_url, {"pacing": {"lead_ms": None}}) as talk:
        await talk.send("open", ctx="a")
        await talk.send("text", ctx="a", delta="One.")
        await talk.send("end", ctx="a")
        first = await talk.until_audio(timeout_s=SPEECH_S)
        waited_ms = 1000 * (first.at_s - talk.sent_s["end"])
        done = await talk.until("done", timeout_s=SPEECH_S)
    assert resting.log.count("ready_to_speak") == 2
    assert 0.3 * waited_ms < done["first_packet_ms"] <= waited_ms
    assert resting.metric("first_packet_ms_sum") == pytest.approx(done["first_packet_ms"], abs=1)
