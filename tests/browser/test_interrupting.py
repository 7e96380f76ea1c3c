"""Stopping and speaking anew (BRO-07): nothing of the old turn, all of the new one."""

from __future__ import annotations

import numpy as np
import pytest
from fake_server import FakeServer
from fake_speech import MS_A_CHAR
from hearing import Heard, Recording

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

LONG = "440Hz. The old turn would go on for a good while if nobody interrupted it here."
NEW = "1000Hz. The new turn."
SLOW_DECODER = """
{
  const Native = AudioDecoder;
  globalThis.AudioDecoder = class extends Native {
    constructor({ output, error }) {
      super({ error, output: (data) => setTimeout(() => output(data), 200) });
    }
    async flush() {
      await super.flush();
      await new Promise((resolve) => setTimeout(resolve, 220));
    }
  };
}
"""
STOP = "harness.speaker.cancel(), harness.speaker.context.currentTime"


def parts_of(recording: Recording, pitch: float, other: float) -> np.ndarray:
    """For each 10 ms: 1 where the pitch is heard, 2 where the other is, 0 where neither."""
    size = recording.rate // 100
    frames = recording.samples[: len(recording.samples) // size * size].reshape(-1, size)
    turns = np.exp(-2j * np.pi * np.outer([pitch, other], np.arange(size)) / recording.rate)
    power = np.abs(frames @ turns.T) / size
    return np.where(power.max(axis=1) < 0.02, 0, power.argmax(axis=1) + 1)


async def test_cancel_is_silent_within_100_ms(heard: Heard, fake_server: FakeServer) -> None:
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak(LONG)
    await heard.sounding()
    await heard.page.wait_for_timeout(300)

    stopped_s = await heard.page.evaluate(STOP)
    result = await heard.done()
    await heard.page.wait_for_timeout(500)

    recording = await heard.recording()
    assert np.abs(recording.after(stopped_s + 0.1)).max(initial=0) < 0.003
    assert result["reason"] == "cancelled"
    [message] = fake_server.of("cancel")
    heard_ms = recording.seconds * 1000
    assert message["played_ms"] == pytest.approx(heard_ms, abs=150)
    assert result["textSpoken"] + result["textRemaining"] == LONG


async def test_a_packet_that_is_being_decoded_when_it_is_cancelled_is_never_heard(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.add_init_script(SLOW_DECODER)
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak(LONG)
    await heard.sounding()
    await heard.page.wait_for_timeout(300)

    await heard.page.evaluate(STOP)
    await heard.speak(NEW)
    result = await heard.done(1)

    turns = parts_of(await heard.recording(), 440, 1000)
    new = np.flatnonzero(turns == 2)
    assert not (turns[new[0] :] == 1).any()
    assert len(new) * 10 == pytest.approx(len(NEW) * MS_A_CHAR, abs=40)
    assert result["audioMs"] == len(NEW) * MS_A_CHAR


async def test_interrupt_speaks_the_new_text_instead_of_the_old(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak(LONG)
    await heard.sounding()

    await heard.speak(NEW, {"when": "interrupt"})
    assert (await heard.done(0))["reason"] == "cancelled"
    await heard.done(1)

    turns = parts_of(await heard.recording(), 440, 1000)
    assert len(np.flatnonzero(turns == 2)) * 10 == pytest.approx(len(NEW) * MS_A_CHAR, abs=40)


async def test_queued_utterances_follow_each_other_whole(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak("440Hz. First.")
    await heard.speak(NEW)
    await heard.done(0)
    await heard.done(1)

    turns = parts_of(await heard.recording(), 440, 1000)
    first, second = np.flatnonzero(turns == 1), np.flatnonzero(turns == 2)
    assert first.max() < second.min()
    assert len(first) * 10 == pytest.approx(len("440Hz. First.") * MS_A_CHAR, abs=40)
    assert len(second) * 10 == pytest.approx(len(NEW) * MS_A_CHAR, abs=40)


async def test_cancelling_what_waits_leaves_what_is_heard_alone(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak(NEW)
    await heard.speak(LONG)
    await heard.sounding()
    await heard.page.evaluate("harness.utterances[1].cancel()")

    assert (await heard.done(0))["reason"] == "completed"
    turns = parts_of(await heard.recording(), 440, 1000)
    assert not (turns == 1).any()
    assert len(np.flatnonzero(turns == 2)) * 10 == pytest.approx(len(NEW) * MS_A_CHAR, abs=40)


async def test_a_second_cancel_and_one_of_nothing_are_harmless(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.page.evaluate("harness.speaker.cancel()")
    await heard.speak(LONG)
    await heard.sounding()

    await heard.page.evaluate("harness.speaker.cancel(), harness.speaker.cancel()")

    assert (await heard.done())["reason"] == "cancelled"
    assert len(fake_server.of("cancel")) == 1
    assert await heard.events("error") == []
