"""Which decoder, and what happens when it fails (BRO-03, BRO-04, BRO-08)."""

from __future__ import annotations

import numpy as np
import pytest
from fake_server import FakeServer
from fake_speech import MS_A_CHAR
from hearing import Heard

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TEXT = "440Hz. A tone that lasts for a good two seconds."

NO_DECODER = "delete globalThis.AudioDecoder"
NO_OPUS = "AudioDecoder.isConfigSupported = async () => ({ supported: false })"
ASKING_THROWS = "AudioDecoder.isConfigSupported = () => { throw new TypeError('no such codec') }"
CONFIGURE_THROWS = (
    "AudioDecoder.prototype.configure = () => { throw new DOMException('no', 'NotSupportedError') }"
)
CLOSES_AFTER_THREE = """
{
  const Native = AudioDecoder;
  globalThis.AudioDecoder = class extends Native {
    #left = 3;
    #error;
    constructor(init) {
      super(init);
      this.#error = init.error;
    }
    decode(chunk) {
      if (this.#left-- > 0) return super.decode(chunk);
      this.close();
      this.#error(new DOMException("decoding failed", "EncodingError"));
    }
  };
}
"""
TAKES_AND_GIVES_NOTHING = "AudioDecoder.prototype.decode = () => undefined"
NO_WASM = "WebAssembly.compile = async () => { throw new WebAssembly.CompileError('forbidden') }"
INSECURE = """
delete globalThis.AudioDecoder;
delete globalThis.EncodedAudioChunk;
delete globalThis.AudioWorkletNode;
delete globalThis.AudioWorklet;
delete BaseAudioContext.prototype.audioWorklet;
"""


async def play(heard: Heard, server: FakeServer, *stubs: str, text: str = TEXT) -> dict:
    for stub in stubs:
        await heard.page.add_init_script(stub)
    await heard.page.goto(server.url + "/harness/")
    await heard.speak(text)
    return await heard.done()


async def paths(heard: Heard) -> list[str]:
    return [event["path"] for event in await heard.events("decoder")]


async def test_the_browsers_own_decoder_is_used_where_it_takes_opus(
    heard: Heard, fake_server: FakeServer
) -> None:
    await play(heard, fake_server)

    assert await paths(heard) == ["webcodecs"]
    assert fake_server.of("hello")[0]["audio"]["codec"] == "opus"


@pytest.mark.usefixtures("all_at_once")
@pytest.mark.parametrize("stub", [NO_DECODER, NO_OPUS, ASKING_THROWS])
async def test_where_it_does_not_the_wasm_decoder_is_and_the_page_is_told(
    heard: Heard, fake_server: FakeServer, stub: str
) -> None:
    result = await play(heard, fake_server, stub)

    [event] = await heard.events("decoder")
    assert event["path"] == "wasm"
    assert "no AudioDecoder for Opus" in event["why"]
    recording = await heard.recording()
    assert recording.seconds == pytest.approx(result["audioMs"] / 1000, abs=0.02)


@pytest.mark.parametrize("stub", [CONFIGURE_THROWS, CLOSES_AFTER_THREE, TAKES_AND_GIVES_NOTHING])
async def test_a_decoder_that_fails_in_mid_stream_is_replaced_and_no_sample_is_lost(
    heard: Heard, fake_server: FakeServer, stub: str
) -> None:
    result = await play(heard, fake_server, stub)

    assert await paths(heard) == ["webcodecs", "wasm"]
    recording = await heard.recording()
    assert await heard.events("error") == []
    assert result["audioMs"] == pytest.approx(len(TEXT) * MS_A_CHAR, abs=1)
    if stub is not TAKES_AND_GIVES_NOTHING:
        # Where the machine is busy, silence may come in between.
        assert recording.sounding_s == pytest.approx(result["audioMs"] / 1000, abs=0.06)
    assert recording.pitch() == pytest.approx(440, abs=2)


async def test_a_switch_in_mid_stream_leaves_no_seam(heard: Heard, fake_server: FakeServer) -> None:
    await play(heard, fake_server, CLOSES_AFTER_THREE)

    recording = await heard.recording()
    # All but the end: there the tone is cut off.
    jumps = np.abs(np.diff(recording.sound[:-500]))
    steepest = 0.55 * 2 * np.pi * 440 / recording.rate
    assert jumps.max() < 1.3 * steepest


@pytest.mark.usefixtures("all_at_once")
async def test_without_wasm_either_the_server_is_asked_for_pcm(
    heard: Heard, fake_server: FakeServer
) -> None:
    result = await play(heard, fake_server, NO_DECODER, NO_WASM)

    assert await paths(heard) == ["pcm"]
    assert fake_server.of("hello")[0]["audio"] == {"codec": "pcm_s16le", "rate": 48000}
    recording = await heard.recording()
    assert recording.seconds == pytest.approx(result["audioMs"] / 1000, abs=0.02)
    assert recording.pitch() == pytest.approx(440, abs=2)


async def test_when_the_last_opus_decoder_fails_in_mid_stream_pcm_goes_on_at_the_same_place(
    heard: Heard, fake_server: FakeServer
) -> None:
    result = await play(heard, fake_server, CLOSES_AFTER_THREE, NO_WASM)

    assert await paths(heard) == ["webcodecs", "pcm"]
    assert [hello["audio"]["codec"] for hello in fake_server.of("hello")] == ["opus", "pcm_s16le"]
    assert result["reason"] == "completed"
    assert result["audioMs"] == pytest.approx(len(TEXT) * MS_A_CHAR, abs=1)


async def test_on_an_insecure_origin_it_plays_through_the_fallbacks(
    heard: Heard, fake_server: FakeServer
) -> None:
    result = await play(heard, fake_server, INSECURE)

    assert await paths(heard) == ["wasm"]
    [backend] = await heard.events("backend")
    assert backend["kind"] == "buffer"
    assert "not secure" in backend["why"]
    recording = await heard.recording()
    assert recording.pitch() == pytest.approx(440, abs=2)
    # The recorder that such a page allows may lose blocks when the machine is busy.
    assert recording.seconds == pytest.approx(result["audioMs"] / 1000, abs=0.3)


async def test_on_an_insecure_origin_stop_is_silent_within_100_ms_too(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.add_init_script(INSECURE)
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak("440Hz. A text that would go on for quite a while if nobody stopped it.")
    await heard.sounding()

    stop = "harness.speaker.cancel(), harness.speaker.context.currentTime"
    stopped_s = await heard.page.evaluate(stop)
    await heard.page.wait_for_timeout(600)

    recording = await heard.recording()
    # The recorder that such a page allows is two of its buffers late.
    late_s = 2 * 1024 / recording.rate
    assert np.abs(recording.after(stopped_s + late_s + 0.1)).max(initial=0) < 0.003


async def onset_ms(heard: Heard, server: FakeServer, *stubs: str) -> float:
    """Where the tone begins in what the decoder made, by the levels' own samples."""
    await heard.page.add_init_script("window.pushed = []")
    keep = """
    const post = MessagePort.prototype.postMessage;
    MessagePort.prototype.postMessage = function (message, ...rest) {
      if (message?.type === "push") window.pushed.push(...message.samples);
      return post.call(this, message, ...rest);
    };
    """
    await heard.page.add_init_script(keep)
    await play(heard, server, *stubs)
    pushed = np.array(await heard.page.evaluate("window.pushed"))
    rate = await heard.page.evaluate("harness.speaker.context.sampleRate")
    return float(np.flatnonzero(np.abs(pushed) > 0.1)[0] / rate * 1000)


@pytest.mark.parametrize("stub", [(), (NO_DECODER,), (NO_DECODER, NO_WASM)])
async def test_the_first_audible_sample_is_at_the_same_place_on_every_path(
    heard: Heard, fake_server: FakeServer, stub: tuple[str, ...]
) -> None:
    # The tone begins with the first sample of the audio: a pre-skip not dropped would be 6.5 ms.
    assert await onset_ms(heard, fake_server, *stub) == pytest.approx(0, abs=1)


PRE_SKIP_DROPPED = """
{
  const Native = AudioDecoder;
  globalThis.AudioDecoder = class extends Native {
    constructor({ output, error }) {
      let first = true;
      super({
        error,
        output(data) {
          if (!first) return output(data);
          first = false;
          const samples = new Float32Array(data.numberOfFrames);
          data.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
          const rest = samples.slice(312);
          output(new AudioData({
            format: "f32-planar", sampleRate: 48000, numberOfChannels: 1,
            numberOfFrames: rest.length, timestamp: data.timestamp, data: rest,
          }));
        },
      });
    }
  };
}
"""


async def test_a_decoder_that_drops_the_pre_skip_itself_does_not_clip_the_start(
    heard: Heard, fake_server: FakeServer
) -> None:
    assert await onset_ms(heard, fake_server, PRE_SKIP_DROPPED) == pytest.approx(0, abs=1)
    assert await heard.page.evaluate("harness.utterances[0].playedMs") == len(TEXT) * MS_A_CHAR
