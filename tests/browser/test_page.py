"""The page at ``/`` with the real server and the embedded voice."""

from __future__ import annotations

import io
from collections.abc import Iterator
from urllib.parse import urlsplit

import av
import numpy as np
import pytest
from hearing import AUDIBLE, Heard
from playwright.async_api import Browser, expect
from profiles import new_context
from proxy import Proxy

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TEXT = "Good morning. Here is one sentence, and another."


@pytest.fixture
def proxy(live_server) -> Iterator[Proxy]:
    proxy = Proxy(urlsplit(live_server.url).port).start()
    yield proxy
    proxy.stop()


async def open_page(heard: Heard, url: str, text: str = TEXT) -> None:
    await heard.page.goto(url)
    await expect(heard.page.locator("#connection")).to_have_attribute("data-state", "ready")
    await expect(heard.page.locator("#voice option")).not_to_have_count(0)
    await heard.page.get_by_role("textbox").fill(text)


async def speak(heard: Heard) -> None:
    await heard.page.get_by_role("button", name="Speak", exact=True).click()


async def finished(heard: Heard) -> None:
    await expect(heard.page.locator("#said")).to_have_text("Done.", timeout=20_000)


def pixels(png: bytes) -> np.ndarray:
    with av.open(io.BytesIO(png)) as file:
        return next(file.decode(video=0)).to_ndarray(format="rgb24")


async def test_audio_reaches_the_worklet_soon_after_the_click(heard: Heard, live_server) -> None:
    await open_page(heard, live_server.url)

    await speak(heard)
    await heard.sounding()

    marks = await heard.page.evaluate("recording.marks")
    assert marks["pushed"] - marks["clicked"] < 3000  # 500 are promised, on an idle machine


async def test_stop_is_silent_within_100_ms(heard: Heard, live_server) -> None:
    await open_page(heard, live_server.url, TEXT * 4)
    await speak(heard)
    await heard.sounding()
    await heard.page.wait_for_timeout(500)
    note = (
        "addEventListener('click', () => (window.stopped = recording.context().currentTime), true)"
    )
    await heard.page.evaluate(note)

    await heard.page.get_by_role("button", name="Stop").click()
    await expect(heard.page.locator("#said")).to_have_text("Stopped.")
    await heard.page.wait_for_timeout(500)

    stopped_s = await heard.page.evaluate("window.stopped")
    recording = await heard.recording()
    assert np.abs(recording.after(stopped_s + 0.1)).max(initial=0) < AUDIBLE


async def test_the_page_is_not_blank_and_shows_the_sound(heard: Heard, live_server) -> None:
    await open_page(heard, live_server.url)
    await speak(heard)
    await heard.sounding()
    await heard.page.wait_for_timeout(700)

    shot = pixels(await heard.page.screenshot())
    wave = pixels(await heard.page.locator("#wave").screenshot())

    assert len(np.unique(shot.reshape(-1, 3), axis=0)) > 100
    accent = (np.abs(wave.astype(int) - [0x4F, 0x46, 0xC8]).max(axis=2) < 16).sum()
    assert accent > 300


async def test_the_text_lights_up_word_by_word_to_its_end(heard: Heard, live_server) -> None:
    await open_page(heard, live_server.url)
    await heard.watch_lights()
    await speak(heard)
    await finished(heard)

    lights = await heard.page.evaluate("window.lights")
    assert all(TEXT.startswith(said) for said, _ in lights)
    words = [now for _, now in lights]
    assert {"Good", "morning", "one", "sentence"} <= {word.strip(".,") for word in words}
    assert words[-1].startswith("another")
    assert [len(said) for said, _ in lights] == sorted(len(said) for said, _ in lights)


async def test_first_packet_and_first_sound_are_shown_as_numbers(heard: Heard, live_server) -> None:
    await open_page(heard, live_server.url)
    await speak(heard)
    await finished(heard)

    packet_ms = int(await heard.page.locator("#first-packet").inner_text())
    sound_ms = int(await heard.page.locator("#ttfa").inner_text())
    assert 0 < packet_ms < sound_ms < 10_000
    await expect(heard.page.locator("#first-packet-server")).to_contain_text("ms by the server")
    await expect(heard.page.locator("#decoder")).to_have_text("WebCodecs")
    await expect(heard.page.locator("#backend")).to_have_text("AudioWorklet")


async def test_after_a_drop_the_same_samples_are_heard_as_without(
    heard: Heard, proxy: Proxy
) -> None:
    await open_page(heard, f"http://127.0.0.1:{proxy.port}")
    await speak(heard)
    await finished(heard)
    whole = (await heard.recording()).sound
    await heard.page.evaluate("recording.forget()")

    await speak(heard)
    await heard.sounding()
    await heard.page.wait_for_timeout(300)
    proxy.drop()
    await expect(heard.page.locator("#connection")).to_have_attribute("data-state", "reconnecting")
    await expect(heard.page.locator("#connection")).to_have_attribute("data-state", "ready")
    await finished(heard)
    dropped = (await heard.recording()).sound

    # Where it came back too late there is silence, but not a sample less, and none twice.
    gap = abs(len(dropped) - len(whole))
    assert gap < 0.6 * (await heard.recording()).rate
    assert np.allclose(dropped[:8000], whole[:8000], atol=0.01)
    assert np.allclose(dropped[-8000:], whole[-8000:], atol=0.01)


async def test_a_text_that_the_voice_cannot_speak_is_explained(heard: Heard, live_server) -> None:
    await open_page(heard, live_server.url, "Привет.")
    await speak(heard)

    problem = heard.page.get_by_role("alert")
    await expect(problem).to_contain_text("This voice cannot speak this text: it speaks English.")
    await heard.page.get_by_role("textbox").fill("Hello.")
    await speak(heard)
    await finished(heard)
    await expect(problem).to_be_hidden()


async def test_a_text_without_a_word_ends_at_once_and_says_so(heard: Heard, live_server) -> None:
    await open_page(heard, live_server.url, "... !!")
    await speak(heard)

    await expect(heard.page.locator("#said")).to_have_text("Done.")
    await expect(heard.page.get_by_role("alert")).to_contain_text("no word in this text")


async def test_the_keyboard_alone_is_enough(heard: Heard, live_server) -> None:
    await open_page(heard, live_server.url, TEXT * 3)
    await heard.page.get_by_role("textbox").focus()

    await heard.page.keyboard.press("Control+Enter")
    await heard.sounding()
    await heard.page.keyboard.press("Escape")
    await expect(heard.page.locator("#said")).to_have_text("Stopped.")

    reached = []
    for _ in range(5):
        await heard.page.keyboard.press("Tab")
        reached.append(await heard.page.evaluate("document.activeElement.id"))
    assert reached == ["speak", "voice", "speed", "live", "llm"]


async def test_what_is_typed_is_spoken_while_it_is_typed(heard: Heard, live_server) -> None:
    await open_page(heard, live_server.url, "")
    await heard.page.get_by_label("Speak while I type").check()

    await heard.page.keyboard.type("Now I am typing, and it speaks already. ", delay=30)

    await heard.sounding()
    await expect(heard.page.locator(".now")).not_to_have_text("")
    await heard.page.keyboard.type("Still more. ", delay=30)
    await expect(heard.page.locator(".now")).to_contain_text("more", timeout=10_000)


async def test_a_simulated_llm_is_heard_before_it_has_finished_writing(
    heard: Heard, live_server
) -> None:
    await open_page(heard, live_server.url, "")
    await heard.page.get_by_role("button", name="Let an LLM write").click()

    await heard.sounding()

    written = await heard.page.get_by_role("textbox").input_value()
    assert written.startswith("That is a good question.")
    assert len(written) < 250
    await heard.page.keyboard.press("Escape")
    await expect(heard.page.locator("#said")).to_have_text("Stopped.")
    stopped = await heard.page.get_by_role("textbox").input_value()
    await heard.page.wait_for_timeout(300)
    assert await heard.page.get_by_role("textbox").input_value() == stopped


async def test_the_speed_is_obeyed(heard: Heard, live_server) -> None:
    await open_page(heard, live_server.url, "Good morning to you.")
    await heard.page.get_by_label("Speed").fill("1.5")
    await speak(heard)
    await finished(heard)
    quick = (await heard.recording()).seconds
    await heard.page.evaluate("recording.forget()")
    await heard.page.get_by_label("Speed").fill("1")
    await speak(heard)
    await finished(heard)

    assert (await heard.recording()).seconds > 1.25 * quick


async def test_a_server_with_keys_is_asked_for_one_and_then_speaks(
    heard: Heard, start_server
) -> None:
    server = start_server(access__api_keys='[{"name": "page", "key": "open-sesame"}]')
    await heard.page.goto(server.url)
    field = heard.page.get_by_label("This server asks for an API key or a token")
    await expect(field).to_be_focused()

    await field.fill("open-sesame")
    await field.press("Enter")
    await expect(heard.page.locator("#connection")).to_have_attribute("data-state", "ready")
    await speak(heard)

    await heard.sounding()
    await expect(field).to_be_hidden()


async def test_a_chinese_browser_gets_a_chinese_page(browser: Browser, live_server) -> None:
    context = await new_context(browser, locale="zh-CN")
    page = await context.new_page()
    await page.goto(live_server.url)

    await expect(page.get_by_role("button", name="朗读", exact=True)).to_be_visible()
    assert await page.locator("html").get_attribute("lang") == "zh-CN"
    await expect(page.locator("#hint")).to_contain_text("英语")
    await page.get_by_role("button", name="Switch to English").click()
    await expect(page.get_by_role("button", name="Speak", exact=True)).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("button", name="Speak", exact=True)).to_be_visible()
    await context.close()
