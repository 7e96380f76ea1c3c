"""Voices made on the page: recorded from a microphone or chosen as a file, in a real Chromium."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from hearing import Heard
from playwright.async_api import Browser, Dialog, Locator, Page, async_playwright, expect
from profiles import AT_RATE, CHROMIUM, FLAGS, new_context
from recordings import a_recording, encoded
from servers import LiveServer, StartServer, start

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

READY = "The voice is ready and chosen. Press Speak to hear it."
CLONES_FROM_HZ = 5_500
"""The tone runner's own voices are lower."""
WATCHING = """() => {
  window.told = [];
  const status = document.getElementById("recording-said");
  const told = () => window.told.push(status.textContent);
  new MutationObserver(told).observe(status, { childList: true });
}"""
"""What a screen reader is told, one after another."""
RATE_OF_RECORDING = """async () => {
  const file = await (await fetch(document.getElementById("recording").src)).arrayBuffer();
  return new DataView(file).getUint32(24, true);
}"""
"""As its WAVE header says."""
REJECTING = (
    "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', '{}'))"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    server = start(tmp_path_factory.mktemp("page-voices"), engine__runner="tone")
    yield server
    server.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """Its microphone hears somebody speak, over and over."""
    speaker = tmp_path_factory.mktemp("microphone") / "speech.wav"
    speaker.write_bytes(a_recording(7.0))
    microphone = [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={speaker}",
    ]
    async with async_playwright() as playwright:
        flags = [*FLAGS, *microphone]
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        await chromium.close()


async def open_desk(page: Page, url: str) -> None:
    await page.goto(url)
    await expect(page.locator("#connection")).to_have_attribute("data-state", "ready")
    await page.get_by_role("button", name="Your own voice…").click()


async def choose(page: Page, audio: bytes, name: str = "me.wav") -> None:
    file = {"name": name, "mimeType": "", "buffer": audio}
    await page.locator("#audio-file").set_input_files([file])


async def fill_in(page: Page, name: str, transcript: str | None = None) -> None:
    if transcript is not None:
        await page.get_by_label("What is said in the recording").fill(transcript)
    await page.get_by_label("A name for the voice").fill(name)
    await page.get_by_label("It is my own voice").check()


async def make(page: Page) -> None:
    await page.get_by_role("button", name="Make the voice").click()


async def record(heard: Heard) -> None:
    """From the click to the end of a recording of three seconds."""
    page = heard.page
    await page.get_by_role("button", name="Record", exact=True).click()
    await expect(page.locator("#recording-said")).to_have_text("Recording. Please read.")
    await heard.until("Number.parseFloat(document.getElementById('elapsed').textContent) > 3.1")
    await page.get_by_role("button", name="Stop recording").click()
    await expect(page.get_by_role("button", name="Record again")).to_be_visible()


async def test_a_voice_is_recorded_made_and_spoken_with(heard: Heard, server: LiveServer) -> None:
    page = heard.page
    await open_desk(page, server.url)
    await page.locator("#text").fill("Good morning to you all.")

    await record(heard)
    # What was read aloud is its transcript, and it can be listened to before it is sent.
    read = await page.locator(".reading").inner_text()
    await expect(page.get_by_label("What is said in the recording")).to_have_value(read)
    await heard.until("document.getElementById('recording').duration > 3")
    await fill_in(page, "Ana María")
    await make(page)

    await expect(page.locator("#cloning-said")).to_have_text(READY)
    assert await page.locator("#voice option:checked").inner_text() == "Ana María"
    await page.evaluate("recording.forget()")
    await page.get_by_role("button", name="Speak", exact=True).click()
    await expect(page.locator("#said")).to_have_text("Done.", timeout=20_000)
    assert (await heard.recording()).pitch() >= CLONES_FROM_HZ


@pytest.mark.parametrize("rate", [16_000, 44_100])
async def test_a_voice_is_recorded_on_a_device_of_any_rate(
    heard: Heard, server: LiveServer, rate: int
) -> None:  # BRO-02
    page = heard.page
    await page.add_init_script(AT_RATE % rate)
    await open_desk(page, server.url)

    await record(heard)
    await heard.until("document.getElementById('recording').duration > 3")
    assert await page.evaluate(RATE_OF_RECORDING) == rate
    await fill_in(page, f"Recorded at {rate}")
    await make(page)

    await expect(page.locator("#cloning-said")).to_have_text(READY)


async def test_the_meter_moves_and_too_short_is_told_before_it_is_too_late(
    heard: Heard, server: LiveServer
) -> None:
    page = heard.page
    await open_desk(page, server.url)
    await page.evaluate(WATCHING)
    await page.get_by_role("button", name="Record", exact=True).click()
    await heard.until("Number(document.getElementById('level').getAttribute('aria-valuenow')) > 40")
    await expect(page.locator("#recording-said")).to_have_text("Recording. Please read.")
    assert await page.evaluate("window.told") == [
        "Recording starts in 3…",
        "Recording starts in 2…",
        "Recording starts in 1…",
        "Recording. Please read.",
    ]

    await page.get_by_role("button", name="Stop recording").click()

    await expect(page.locator("#recording-said")).to_contain_text("at least 3 s")
    await expect(page.get_by_role("meter")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Record", exact=True)).to_be_focused()
    await expect(page.get_by_role("meter")).to_be_hidden()


async def test_the_keyboard_alone_is_enough(heard: Heard, server: LiveServer) -> None:
    page = heard.page
    await page.goto(server.url)
    await page.get_by_role("button", name="Your own voice…").focus()
    await page.keyboard.press("Enter")
    reached = []
    for _ in range(7):
        await page.keyboard.press("Tab")
        reached.append(await page.evaluate("document.activeElement.id"))
    assert reached == [
        "record", "audio-file", "transcript", "voice-name", "consent", "consent-note", "make-voice",
    ]  # fmt: skip
    await page.keyboard.press("Enter")
    await expect(problem(page)).to_contain_text("There is no recording yet")
    await expect(page.get_by_role("button", name="Record", exact=True)).to_be_focused()


async def test_what_is_missing_is_said_and_has_the_focus(heard: Heard, server: LiveServer) -> None:
    page = heard.page
    await open_desk(page, server.url)
    await choose(page, a_recording())
    await page.get_by_label("A name for the voice").fill("")
    for label, value, told in (
        ("What is said in the recording", "Good morning, this is how I speak.", "Write down"),
        ("A name for the voice", "Bea", "Give the voice a name"),
    ):
        await make(page)
        await expect(problem(page)).to_contain_text(told)
        field = page.get_by_label(label)
        await expect(field).to_be_focused()
        await field.fill(value)
    await make(page)
    await expect(problem(page)).to_contain_text("consent")
    await expect(page.get_by_label("It is my own voice")).to_be_focused()


async def test_a_file_of_a_browsers_own_format_is_converted(
    heard: Heard, server: LiveServer
) -> None:
    page = heard.page
    await open_desk(page, server.url)
    await choose(page, encoded("webm"), "memo.webm")
    await expect(page.locator("#recording-said")).to_have_text("Chosen: memo.webm")
    await expect(page.get_by_label("A name for the voice")).to_have_value("memo")
    await fill_in(page, "Memo", "Good morning, this is how I speak.")
    await make(page)
    await expect(page.locator("#cloning-said")).to_have_text(READY)


@pytest.mark.parametrize(
    ("locale", "opener", "maker", "told"),
    [
        ("en", "Your own voice…", "Make the voice", "The recording is too short."),
        ("zh-CN", "我的声音……", "生成声音", "录音太短。"),
    ],
)
async def test_a_refusal_is_told_in_the_readers_language(
    browser: Browser, server: LiveServer, locale: str, opener: str, maker: str, told: str
) -> None:
    context = await new_context(browser, locale=locale)
    page = await context.new_page()
    await page.goto(server.url)
    await page.get_by_role("button", name=opener).click()
    await choose(page, a_recording(0.5))
    await page.locator("#transcript").fill("Good morning.")
    await page.locator("#consent").check()
    await page.get_by_role("button", name=maker).click()
    await expect(problem(page)).to_contain_text(told)
    await expect(problem(page)).to_contain_text("0.5 s")  # and what the server said
    await expect(page.get_by_role("button", name=maker)).to_be_enabled()
    await context.close()


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("Object.defineProperty(navigator, 'mediaDevices', {value: undefined})", "https pages"),
        (REJECTING.format("NotAllowedError"), "may not use the microphone"),
        (REJECTING.format("NotFoundError"), "There is no microphone"),
        (REJECTING.format("NotReadableError"), "Another program may have it"),
    ],
)
async def test_a_microphone_that_cannot_be_had_is_explained(
    heard: Heard, server: LiveServer, fault: str, told: str
) -> None:
    await heard.page.add_init_script(fault)
    await open_desk(heard.page, server.url)
    await heard.page.get_by_role("button", name="Record", exact=True).click()
    await expect(problem(heard.page)).to_contain_text(told)
    await expect(heard.page.get_by_role("button", name="Record", exact=True)).to_be_visible()


async def test_ones_own_voices_can_be_used_and_deleted(
    browser: Browser, start_server: StartServer
) -> None:
    server = start_server(
        engine__runner="tone", access__api_keys='[{"name": "page", "key": "open-sesame"}]'
    )
    context = await new_context(browser)
    page = await context.new_page()
    await page.goto(server.url)
    await page.get_by_label("This server asks for an API key").fill("open-sesame")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Your own voice…").click()
    await expect(page.locator("#own-voices")).to_have_text("None yet.")
    await choose(page, a_recording())
    await fill_in(page, "<b>Ana</b>", "Good morning, this is how I speak.")
    await make(page)
    await expect(page.locator("#own-voices")).to_contain_text("<b>Ana</b>")

    await page.locator("#voice").select_option("tone-b")
    await page.get_by_role("button", name="Use the voice <b>Ana</b>").click()
    assert await page.locator("#voice option:checked").inner_text() == "<b>Ana</b>"

    asked: list[str] = []

    async def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        await (dialog.accept() if len(asked) > 1 else dialog.dismiss())

    page.on("dialog", answer)
    delete = page.get_by_role("button", name="Delete the voice <b>Ana</b>")
    await delete.click()
    await expect(delete).to_be_visible()
    await delete.click()
    await expect(page.locator("#own-voices")).to_have_text("None yet.")
    await expect(page.locator("#cloning-said")).to_have_text("The voice <b>Ana</b> was deleted.")
    assert await page.locator("#voice").input_value() == "tone-a"
    assert "for good" in asked[0]
    await context.close()


async def test_an_engine_that_cannot_make_voices_does_not_offer_it(
    heard: Heard, live_server: LiveServer
) -> None:
    await heard.page.goto(live_server.url)
    await expect(heard.page.locator("#voice option")).not_to_have_count(0)
    await expect(heard.page.locator("#own")).to_be_hidden()
    await expect(heard.page.locator("#cloning")).to_be_hidden()


def problem(page: Page) -> Locator:
    return page.locator("#cloning-problem")
