"""Devices of every rate (BRO-02): the context runs at the device's, and the pitch is right."""

from __future__ import annotations

import pytest
from fake_server import FakeServer
from hearing import Heard
from profiles import AT_RATE

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000, 96_000])
async def test_a_tone_of_440_hz_is_one_on_a_device_of_any_rate(
    heard: Heard, fake_server: FakeServer, rate: int
) -> None:
    await heard.page.add_init_script(AT_RATE % rate)
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak("440Hz. A tone that lasts for a good two seconds.")

    result = await heard.done()

    recording = await heard.recording()
    assert recording.rate == rate
    assert recording.pitch() == pytest.approx(440, abs=2)
    # Where the machine starves the sound there is silence in it, never less of the tone.
    assert recording.seconds > result["audioMs"] / 1000 - 0.06


async def test_the_client_never_forces_a_rate_upon_the_context(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.add_init_script(
        "{ const N = AudioContext; globalThis.AudioContext = class extends N {"
        " constructor(options) { super(options); window.asked = options; } } }"
    )
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.speak("440Hz. Short.")
    await heard.done()

    assert await heard.page.evaluate("window.asked.sampleRate === undefined")
