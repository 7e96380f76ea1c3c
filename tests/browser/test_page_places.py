"""The page elsewhere: under a prefix, under a strict policy, on a phone, in the dark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_server import FakeServer
from hearing import Heard
from playwright.async_api import Browser, expect
from profiles import new_context
from test_decoders import NO_DECODER

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture
def prefixed_server() -> Iterator[FakeServer]:
    server = FakeServer(prefix="/some/tts").start()
    yield server
    server.stop()


async def speak(heard: Heard, url: str) -> None:
    await heard.page.goto(url)
    await heard.page.get_by_role("textbox").fill("440Hz. Hello there.")
    await heard.page.get_by_role("button", name="Speak", exact=True).click()
    await expect(heard.page.locator("#said")).to_have_text("Done.", timeout=10_000)


async def test_under_a_path_prefix_all_of_it_works(
    heard: Heard, prefixed_server: FakeServer
) -> None:
    asked: list[str] = []
    heard.page.on("request", lambda request: asked.append(request.url))

    await speak(heard, prefixed_server.url + "/")

    assert all(url.startswith(prefixed_server.url + "/") for url in asked)
    programs = await heard.page.locator("#programs").text_content()
    for line in ("v1/speak?text=Hello+there", "sdk/index.js"):
        assert f'"{prefixed_server.url}/{line}"' in programs
    assert (await heard.recording()).seconds > 0.3


@pytest.mark.parametrize("stub", ["", NO_DECODER])
async def test_a_policy_that_allows_only_its_own_files_is_enough(
    heard: Heard, fake_server: FakeServer, stub: str
) -> None:
    violations: list[str] = []
    heard.page.on(
        "console",
        lambda message: (
            violations.append(message.text) if "Content Security Policy" in message.text else None
        ),
    )
    await heard.page.add_init_script(stub)

    await speak(heard, fake_server.url + "/")

    assert violations == []
    assert (await heard.recording()).seconds > 0.3


async def test_on_an_insecure_page_it_says_what_would_be_better(
    heard: Heard, fake_server: FakeServer
) -> None:
    insecure = "Object.defineProperty(globalThis, 'isSecureContext', { get: () => false });"
    gone = "delete globalThis.AudioDecoder; delete BaseAudioContext.prototype.audioWorklet;"
    await heard.page.add_init_script(insecure + gone)

    await speak(heard, fake_server.url + "/")

    await expect(heard.page.locator("#hint")).to_contain_text("Use https or localhost")
    await expect(heard.page.locator("#decoder")).to_have_text("WebAssembly")
    await expect(heard.page.locator("#backend")).to_have_text("scheduled buffers")


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
async def test_nothing_sticks_out_on_any_width(
    heard: Heard, fake_server: FakeServer, width: int
) -> None:
    await heard.page.set_viewport_size({"width": width, "height": 800})
    await heard.page.goto(fake_server.url + "/")
    width_of_all = "document.documentElement.scrollWidth"
    assert await heard.page.evaluate(width_of_all) <= width

    connection = heard.page.locator("#connection")
    await expect(connection).to_have_attribute("data-state", "ready")
    fake_server.faults.connect_delay_s = 3
    fake_server.drop()
    await expect(connection).to_have_attribute("data-state", "reconnecting")
    assert await heard.page.evaluate(width_of_all) <= width


async def test_every_control_has_a_name(heard: Heard, fake_server: FakeServer) -> None:
    await heard.page.goto(fake_server.url + "/")
    await expect(heard.page.locator("#voice option")).not_to_have_count(0)

    tree = await heard.page.locator("body").aria_snapshot()

    for line in (
        'textbox "Text to speak"',
        'button "Speak"',
        'button "Stop" [disabled]',
        'combobox "Voice"',
        'slider "Speed"',
        'switch "Speak while I type"',
        'button "Let an LLM write"',
    ):
        assert line in tree


CONTRAST = """() => {
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (!color.endsWith(", 0)")) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const kinds = "h1, p, dt, dd, label, button:enabled, textarea, select, output";
  return [...document.querySelectorAll(kinds)]
    .filter((element) => element.checkVisibility())
    .filter((element) => element.textContent.trim() + (element.value ?? ""))
    .map((element) => {
      const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
      return [element.id || element.textContent, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
    })
    .filter(([, ratio]) => ratio < 4.5);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_all_text_can_be_read_in_light_and_dark(
    browser: Browser, fake_server: FakeServer, scheme: str
) -> None:
    context = await new_context(browser, color_scheme=scheme)
    page = await context.new_page()
    await page.goto(fake_server.url + "/")
    await expect(page.locator("#voice option")).not_to_have_count(0)

    assert await page.evaluate(CONTRAST) == []
    await context.close()


async def test_whoever_wants_no_motion_gets_none(browser: Browser, fake_server: FakeServer) -> None:
    fake_server.faults.connect_delay_s = 2
    context = await new_context(browser, reduced_motion="reduce")
    page = await context.new_page()
    await page.goto(fake_server.url + "/")
    await expect(page.locator("#connection")).to_have_attribute("data-state", "connecting")

    assert await page.evaluate("document.getAnimations().length") == 0
    await context.close()


async def test_highlighting_counts_characters_as_the_server_does(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/")
    await heard.watch_lights()
    await heard.page.get_by_role("textbox").fill("😀😀 440Hz. 🎉 after two emoji comes 你好")
    await heard.page.get_by_role("button", name="Speak", exact=True).click()

    await expect(heard.page.locator("#said")).to_have_text("Done.", timeout=10_000)
    lights = await heard.page.evaluate("window.lights")
    assert ["😀😀 440Hz. 🎉 ", "after"] in lights or [
        "😀😀 440Hz. 🎉 after two ",
        "emoji",
    ] in lights
    assert lights[-1] == ["😀😀 440Hz. 🎉 after two emoji comes ", "你好"]


async def test_text_that_is_changed_while_it_is_spoken_goes_dark_and_the_sound_goes_on(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/")
    await heard.page.get_by_role("textbox").fill("440Hz. One two three four five six seven eight.")
    await heard.page.get_by_role("button", name="Speak", exact=True).click()
    await expect(heard.page.locator(".now")).not_to_have_text("")

    await heard.page.get_by_role("textbox").fill("Something else")

    await expect(heard.page.locator(".now")).to_have_text("")
    await expect(heard.page.locator("#said")).to_have_text("Done.", timeout=5000)
