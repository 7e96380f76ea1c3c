"""Faults that others' servers were reported for, tried on ours: one test a case, its id beside it.

docs/cases.md has the whole list and says where each of the others is tested.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import time
import urllib.error
import urllib.request
from typing import Any

import httpx
import numpy as np
import psutil
import pytest
from servers import LiveServer, loading
from talk import Audio, Talk, decode_file, decode_opus, eventually, talking
from websockets.exceptions import ConnectionClosed

PCM = {"audio": {"codec": "pcm_s16le"}, "pacing": {"lead_ms": None}}
FAST = {"pacing": {"lead_ms": None}}
LONG = "A sentence with quite a few words in it, to be spoken at some length. "
QUIET = 33
"""-60 dBFS of 16 bits."""


def quiet_ms(samples: np.ndarray, at_ms: float) -> float:
    """How long the silence around that moment is, at 24 kHz; 0 where there is none."""
    heard = np.flatnonzero(np.abs(samples.astype(np.int32)) > QUIET) / 24
    before, after = heard[heard < at_ms], heard[heard >= at_ms]
    start_ms = before[-1] if len(before) else 0.0
    end_ms = after[0] if len(after) else len(samples) / 24
    return float(end_ms - start_ms)


class TestBorders:
    async def test_raw_pcm_has_no_header_and_no_step_at_any_border(
        self, live_server: LiveServer
    ) -> None:
        # AUD-01
        text = "This is the first. And the second. Here is a third. The last one."
        async with talking(live_server.ws_url, PCM) as talk:
            done = await talk.speak(text, ctx="a")
        payloads = [packet.payload for packet in talk.audio()]
        assert not any(mark in payload for payload in payloads for mark in (b"RIFF", b"OggS"))
        samples = talk.pcm()[: done["samples"]].astype(np.int32)
        steps = np.abs(np.diff(samples))
        assert len(talk.events("segment")) == 4
        starts = [segment["pts_ms"] * 24 for segment in talk.events("segment")[1:]]
        for border in [*range(1_920, len(samples) - 20, 1_920), *starts]:
            around = np.concatenate(
                [steps[border - 20 : border - 2], steps[border + 1 : border + 19]]
            )
            assert steps[border - 2 : border + 1].max() <= max(2 * around.max(), 65), border

    @pytest.mark.parametrize("text", ["Sure.", "I know.", "All right, then."])
    async def test_silence_at_the_ends_is_short(self, live_server: LiveServer, text: str) -> None:
        # AUD-03
        async with talking(live_server.ws_url, PCM) as talk:
            done = await talk.speak(text)
        samples = talk.pcm()[: done["samples"]]
        assert quiet_ms(samples, 0) <= 21
        assert quiet_ms(samples, done["audio_ms"]) <= 200

    async def test_streamed_speech_is_the_whole_of_it(self, live_server: LiveServer) -> None:
        # AUD-04: by characters, whole, over HTTP: sample for sample the same, its end included.
        text = "Please close the window, and thank you very much indeed."
        query = {"text": text, "format": "wav"}
        async with httpx.AsyncClient(base_url=live_server.url) as client:
            file = (await client.get("/v1/speak", params=query)).content
        expected = np.frombuffer(file[44:], "<i2")
        async with talking(live_server.ws_url, PCM) as talk:
            whole = await talk.speak(text, ctx="whole")
            await talk.send("open", ctx="typed")
            for character in text:
                await talk.send("text", ctx="typed", delta=character)
            await talk.send("end", ctx="typed")
            typed = await talk.until("done", ctx="typed")
        for done, sid in ((whole, 1), (typed, 2)):
            assert done["samples"] == len(expected)
            assert np.array_equal(talk.pcm(sid)[: done["samples"]], expected)

    async def test_a_cut_forced_by_length_is_no_pause(self, live_server: LiveServer) -> None:
        # AUD-11
        words = " ".join(["we walked along the river and talked of many things that"] * 12)
        pauses: dict[str, list[float]] = {}
        async with talking(live_server.ws_url, PCM) as talk:
            for sid, (ctx, text) in enumerate(
                (("forced", words), ("marks", "We walked. We talked.\n\nWe slept.")), 1
            ):
                await talk.speak(text, ctx=ctx)
                starts = [segment["pts_ms"] for segment in talk.events("segment", ctx=ctx)[1:]]
                pauses[ctx] = [quiet_ms(talk.pcm(sid), at_ms) for at_ms in starts]
        assert len(pauses["forced"]) >= 3
        assert max(pauses["forced"]) <= 150
        sentence_ms, paragraph_ms = pauses["marks"]
        assert 200 < sentence_ms < 350
        assert 400 < paragraph_ms < 600


class TestCodecs:
    @pytest.mark.parametrize("codec", ["opus", "pcm_s16le", "mulaw", "alaw"])
    async def test_every_rate_and_packet_length_lasts_equally_long_in_whole_samples(
        self, tone_server: LiveServer, codec: str
    ) -> None:
        # OPU-04, OPU-08
        for rate, frame_ms in itertools.product((8_000, 16_000, 24_000, 48_000), (20, 40, 60, 80)):
            audio = {"codec": codec, "rate": rate, "frame_ms": frame_ms}
            async with talking(tone_server.ws_url, {**FAST, "audio": audio}) as talk:
                done = await talk.speak("One second.", ctx="a", seed=11)
            assert talk.events("ready")[0]["audio"]["rate"] == rate
            packets = talk.audio()
            if codec == "opus":
                decoded = decode_opus(packets)
                sent_ms = len(decoded) / 48
                spectrum = np.abs(np.fft.rfft(decoded[:24_000]))
                assert abs(spectrum.argmax() * 2 - 750) <= 4
            else:
                sample_bytes = 2 if codec == "pcm_s16le" else 1
                assert {len(p.payload) for p in packets} == {rate * frame_ms // 1000 * sample_bytes}
                sent_ms = len(packets) * frame_ms
            assert done["audio_ms"] <= sent_ms + 0.01
            assert sent_ms < done["audio_ms"] + frame_ms + 20

    async def test_a_stopped_utterance_is_not_heard_in_the_next(
        self, tone_server: LiveServer
    ) -> None:
        # OPU-06
        async def packets(talk: Talk, ctx: str) -> list[bytes]:
            opened_before = len(talk.events("opened"))
            await talk.speak("A calm one.", ctx=ctx, seed=4)
            sid = talk.events("opened")[opened_before]["sid"]
            return [packet.payload for packet in talk.audio(sid)]

        async with talking(tone_server.ws_url, FAST) as talk:
            alone = await packets(talk, "alone")
        async with talking(tone_server.ws_url, {"pacing": {"lead_ms": 100}}) as talk:
            await talk.send("open", ctx="loud", seed=40, voice="tone-b")
            await talk.send("text", ctx="loud", delta=LONG)
            await talk.until_audio()
            await talk.send("cancel", ctx="loud")
            assert await packets(talk, "next") == alone


class TestTurns:
    async def test_text_for_a_cancelled_context_wakes_nothing(
        self, tone_server: LiveServer
    ) -> None:
        # CAN-09
        await eventually(lambda: tone_server.metric("engine_contexts") == 0)
        async with talking(tone_server.ws_url, {}) as talk:
            await talk.send("open", ctx="x")
            await talk.send("text", ctx="x", delta=LONG)
            await talk.send("cancel", ctx="x")
            for delta in ("late ", "later ", "latest."):
                await talk.send("text", ctx="x", delta=delta)
            await talk.until("cancelled")
            for _ in range(3):
                assert (await talk.until("error"))["code"] == "context_gone"
            await asyncio.sleep(1.1)  # the engine tells its figures once a second
            assert tone_server.metric("contexts") == 0
            await eventually(lambda: tone_server.metric("engine_contexts") == 0)

    async def test_a_tail_smaller_than_a_packet_is_sent_at_the_end_and_dropped_by_a_cancel(
        self, tone_server: LiveServer
    ) -> None:
        # CAN-10
        hello = {"audio": {"codec": "pcm_s16le", "frame_ms": 60}, "pacing": {"lead_ms": 0}}
        async with talking(tone_server.ws_url, hello) as talk:
            whole = await talk.speak("Ten chars.", ctx="whole")
            heard = talk.pcm(1)
            await talk.send("open", ctx="cut")
            await talk.send("text", ctx="cut", delta="Ten chars.")
            await talk.send("end", ctx="cut")
            cut_at = whole["audio_ms"] - 150
            while not talk.audio(2) or talk.audio(2)[-1].pts / 48 < cut_at:
                await talk.next()
            await talk.send("cancel", ctx="cut")
            await talk.until("cancelled")
            after = await talk.quiet(0.4)
        assert len(heard) >= whole["samples"] > len(heard) - 1_440
        assert not heard[whole["samples"] :].any()
        assert not after

    async def test_nothing_comes_after_the_one_end_of_a_context(
        self, tone_server: LiveServer
    ) -> None:
        # PRO-04
        async with talking(tone_server.ws_url, PCM) as talk:
            await talk.send("open", ctx="a")
            await talk.send("text", ctx="a", delta="This comes first. ")
            await talk.send("flush", ctx="a", id="f")
            await talk.until("flushed", id="f")
            assert not talk.events("done")
            await talk.send("text", ctx="a", delta="Yes")
            await talk.send("end", ctx="a")
            await talk.until("done")
            after = await talk.quiet(0.2)
        assert after == []
        assert len(talk.events("done")) == 1
        assert talk.events("done")[0]["last_seq"] == talk.audio()[-1].seq

    async def test_an_end_in_the_same_breath_as_text_and_flush_loses_nothing(
        self, tone_server: LiveServer
    ) -> None:
        # PRO-06
        async def bursts(count: int) -> list[int]:
            lengths = []
            async with talking(tone_server.ws_url, PCM) as talk:
                for number in range(count):
                    ctx = f"c{number}"
                    await asyncio.gather(
                        talk.send("open", ctx=ctx),
                        talk.send("text", ctx=ctx, delta="One. "),
                        talk.send("text", ctx=ctx, delta="Two."),
                        talk.send("flush", ctx=ctx, id="f"),
                        talk.send("end", ctx=ctx),
                    )
                    lengths.append((await talk.until("done", ctx=ctx))["samples"])
                assert len(talk.events("flushed")) == count
                assert not talk.events("error")
            return lengths

        lengths = [
            n for many in await asyncio.gather(*(bursts(25) for _ in range(8))) for n in many
        ]
        assert len(lengths) == 200
        assert len(set(lengths)) == 1

    async def test_a_context_closed_without_any_text_is_done(self, tone_server: LiveServer) -> None:
        # PRO-07
        async with talking(tone_server.ws_url, PCM) as talk:
            await talk.send("open", ctx="empty")
            await talk.send("text", ctx="empty", delta="")
            await talk.send("end", ctx="empty")
            empty = await talk.until("done", ctx="empty")
            await talk.send("open", ctx="hi")
            await talk.send("text", ctx="hi", delta="Hi.")
            await talk.send("text", ctx="hi", delta="")
            await talk.send("end", ctx="hi")
            spoken = await talk.until("done", ctx="hi")
        assert empty["samples"] == 0
        assert spoken["samples"] > 0
        assert not talk.events("error")

    async def test_a_late_text_does_not_stop_what_is_being_spoken(
        self, tone_server: LiveServer
    ) -> None:
        # PRO-08
        async with talking(tone_server.ws_url, {"audio": {"codec": "pcm_s16le"}}) as talk:
            await talk.send("open", ctx="a")
            await talk.send("text", ctx="a", delta="Spoken to its very end.")
            await talk.send("end", ctx="a")
            await talk.until_audio()
            await talk.send("text", ctx="a", delta="More.")
            error = await talk.until("error")
            done = await talk.until("done")
        assert (error["code"], error["ctx"], error["fatal"]) == ("context_ended", "a", False)
        assert len(talk.pcm()) >= done["samples"] > 24_000
        assert "".join(s["text"] for s in talk.events("segment")) == "Spoken to its very end."

    async def test_naming_the_voice_again_harms_no_context(self, tone_server: LiveServer) -> None:
        # PRO-11
        async with talking(tone_server.ws_url, {"audio": {"codec": "pcm_s16le"}}) as talk:
            await talk.send("open", ctx="a", voice="tone-a")
            await talk.send("text", ctx="a", delta="One part")
            await talk.send("open", ctx="b")
            await talk.send("text", ctx="b", delta="The other one.")
            await talk.send("text", ctx="a", delta=" and another.", voice="tone-a")
            warning = await talk.until("warning")
            await talk.send("open", ctx="a", voice="tone-b")
            error = await talk.until("error")
            for ctx in ("a", "b"):
                await talk.send("end", ctx=ctx)
            await talk.until("done", ctx="b")
        assert (warning["code"], warning["field"]) == ("unknown_field", "voice")
        assert (error["code"], error["ctx"], error["fatal"]) == ("context_exists", "a", False)
        spoken = "".join(segment["text"] for segment in talk.events("segment", ctx="a"))
        assert spoken == "One part and another."


class TestLoad:
    async def test_more_sessions_than_the_engine_has_room_for_are_told_and_all_finish(
        self, start_server
    ) -> None:
        # CON-09
        server = start_server(engine__runner="tone", engine__slots=4)

        async def persist() -> int:
            refusals = 0
            async with talking(server.ws_url, {"pacing": {"lead_ms": None}}) as talk:
                while True:
                    await talk.send("open", ctx="a")
                    while (answer := await talk.next()) and isinstance(answer, Audio):
                        pass
                    assert isinstance(answer, dict)
                    if answer["type"] == "opened":
                        break
                    assert (answer["code"], answer["retryable"]) == ("overloaded", True)
                    refusals += 1
                    await asyncio.sleep(answer["retry_after_ms"] / 1000)
                await talk.send("text", ctx="a", delta="[[sleep:0.002]]" + LONG)
                await talk.send("end", ctx="a")
                await talk.until("done", ctx="a")
            return refusals

        refusals = await asyncio.gather(*(persist() for _ in range(8)))
        assert sum(refusals) > 0
        assert server.metric("free_slots") >= 0

    async def test_contexts_that_fail_or_are_cancelled_hold_up_none_that_follow(
        self, start_server
    ) -> None:
        # CON-05
        server = start_server(engine__runner="tone", engine__slots=1)
        async with talking(server.ws_url, PCM) as talk:
            for number in range(5):
                await talk.send("open", ctx=f"f{number}")
                await talk.send("text", ctx=f"f{number}", delta="It [[raise]] fails. ")
                await talk.until("error", ctx=f"f{number}", fatal=True)
                await talk.send("open", ctx=f"c{number}")
                await talk.send("text", ctx=f"c{number}", delta=LONG)
                await talk.send("cancel", ctx=f"c{number}")
                await talk.until("cancelled", ctx=f"c{number}")
            for number in range(10):
                await talk.speak("Fine.", ctx=f"n{number}")
        assert {error["code"] for error in talk.events("error")} == {"synthesis_failed"}

    async def test_short_texts_cost_the_same_before_and_after_long_ones(
        self, live_server: LiveServer
    ) -> None:
        # MEM-05
        engine = _engine(live_server)
        firsts: dict[str, list[float]] = {"before": [], "after": []}
        async with talking(live_server.ws_url, PCM) as talk:
            await talk.speak((LONG * 30)[:2_000], ctx="warm")
            rss_mib = engine.memory_info().rss / 2**20
            for number in range(4):
                for when, size in (("before", 20), ("", 2_000), ("after", 20)):
                    done = await talk.speak((LONG * 30)[:size], ctx=f"{when}-{size}-{number}")
                    if when:
                        firsts[when].append(done["first_packet_ms"])
            grown_mib = engine.memory_info().rss / 2**20 - rss_mib
        assert min(firsts["after"]) < min(firsts["before"]) + 30
        assert grown_mib < 24

    async def test_requests_leave_no_memory_behind(self, tone_server: LiveServer) -> None:
        # MEM-04, as far as there are requests without references
        processes = [psutil.Process(tone_server.process.pid), _engine(tone_server)]
        async with httpx.AsyncClient(base_url=tone_server.url, timeout=20) as client:

            async def ask(times: int) -> None:
                for number in range(times):
                    asked = {"text": f"Request {number}.", "format": ("opus", "mp3")[number % 2]}
                    assert (await client.post("/v1/speak", json=asked)).status_code == 200

            await ask(50)
            before_mib = [process.memory_info().rss / 2**20 for process in processes]
            await ask(200)
        for process, before in zip(processes, before_mib, strict=True):
            assert process.memory_info().rss / 2**20 - before < 4


def _engine(server: LiveServer) -> psutil.Process:
    children = psutil.Process(server.process.pid).children(recursive=True)
    return next(child for child in children if "engine" in child.cmdline())


class TestMessageSizes:
    async def test_below_the_limit_a_message_is_read(self, tone_server: LiveServer) -> None:
        # DEP-05
        async with talking(tone_server.ws_url, PCM) as talk:
            await talk.send("open", ctx="a", text_mode="manual")
            await talk.send("text", ctx="a", delta="a" * 1_000_000)
            await talk.send("text", ctx="a", delta="a" * 90_000)
            await talk.send("cancel", ctx="a")
            cancelled = await talk.until("cancelled")
        assert [error["code"] for error in talk.events("error")] == ["text_too_long"]
        assert len(cancelled["text_remaining"]) == 90_000

    @pytest.mark.parametrize("megabytes", [1.1, 8, 40])
    async def test_above_it_the_close_says_why(
        self, tone_server: LiveServer, megabytes: float
    ) -> None:
        # DEP-05
        async with talking(tone_server.ws_url, PCM) as talk:
            with contextlib.suppress(ConnectionClosed):
                await talk.send("text", delta="a" * int(megabytes * 2**20))
            with pytest.raises(ConnectionClosed) as closed:
                await talk.next()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        assert "1048576" in closed.value.rcvd.reason

    async def test_a_claimed_size_costs_no_memory(self, tone_server: LiveServer) -> None:
        # DEP-05
        process = psutil.Process(tone_server.process.pid)
        before_mib = process.memory_info().rss / 2**20
        async with talking(tone_server.ws_url, {}) as talk:
            talk.socket.transport.write(b"\x81\xff" + (2**40).to_bytes(8, "big") + b"\0\0\0\0{")
            with pytest.raises(ConnectionClosed) as closed:
                await talk.next()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        assert process.memory_info().rss / 2**20 - before_mib < 4


class TestStarting:
    async def test_a_model_that_cannot_load_is_told_everywhere(
        self, start_server, monkeypatch, tmp_path
    ) -> None:
        # DEP-02
        (tmp_path / "hibari.py").write_text("raise OSError('the model is damaged')\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
        server = start_server(wait=False, engine__runner="embedded")
        status, body = await _until(server, "/readyz", lambda _, body: b"damaged" in body)
        assert status == 503
        assert b'"ready":false' in body
        assert (await _get(server, "/healthz"))[0] == 200
        async with talking(server.ws_url, {}) as talk:
            await talk.send("text", delta="Hello.")
            error = await talk.until("error")
        assert (error["status"], error["fatal"]) == (503, False)
        assert "the model is damaged" in error["message"]

    async def test_while_the_model_loads_the_page_is_there_and_says_so(self, start_server) -> None:
        # DEP-06, DEP-07
        server = start_server(wait=False)
        with loading(server):
            await _until(server, "/healthz", lambda status, _: status == 200)
            assert (await _get(server, "/"))[0] == 200
            status, body = await _get(server, "/v1/voices")
            assert status == 503
            assert b"engine_loading" in body
        _, body = await _until(server, "/v1/voices", lambda status, _: status == 200)
        assert b'"heart"' in body


async def _get(server: LiveServer, path: str) -> tuple[int, bytes]:
    def ask() -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(server.url + path, timeout=5) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except (urllib.error.URLError, ConnectionError):
            return 0, b""

    return await asyncio.to_thread(ask)


async def _until(server: LiveServer, path: str, holds: Any, within_s: float = 20) -> Any:
    end_s = time.monotonic() + within_s
    while not holds(*(answer := await _get(server, path))):
        assert time.monotonic() < end_s, answer
        await asyncio.sleep(0.02)
    return answer


async def test_a_wav_of_a_second_lasts_a_second_to_whoever_reads_to_its_end(
    tone_server: LiveServer,
) -> None:
    # OPU-02
    async with httpx.AsyncClient(base_url=tone_server.url) as client:
        answer = await client.get("/v1/speak", params={"text": "One second long.", "format": "wav"})
    samples, rate = decode_file(answer.content)
    assert rate == 24_000
    assert len(samples) * 2 == len(answer.content) - 44
