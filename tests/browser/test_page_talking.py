"""What the page tells whoever uses it of the server and its voices."""

from __future__ import annotations

import pytest
from fake_server import FakeServer
from hearing import Heard
from playwright.async_api import Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TEXT = "440Hz. Hello there."


async def open_page(page: Page, server: FakeServer) -> None:
    await page.goto(server.url + "/")
    await expect(page.locator("#voice option")).not_to_have_count(0)


async def test_the_servers_own_choice_of_a_voice_is_marked(
    heard: Heard, fake_server: FakeServer
) -> None:
    await open_page(heard.page, fake_server)

    assert await heard.page.locator("#voice option").all_inner_texts() == [
        "Tone (English, default)",
        "Klang (English, Chinese)",
    ]


async def test_programs_are_shown_for_this_server_and_for_the_voice_that_was_chosen(
    heard: Heard, fake_server: FakeServer
) -> None:
    await open_page(heard.page, fake_server)
    shown = heard.page.locator("#programs")
    await heard.page.get_by_text("From a program").click()
    await expect(shown).to_be_visible()
    assert "voice" not in await shown.inner_text()

    await heard.page.locator("#voice").select_option("klang")

    await expect(shown).to_contain_text('&voice=klang"')
    await expect(shown).to_contain_text('voice="klang"')
    await expect(shown).to_contain_text('voice: "klang"')


async def test_voices_that_take_instructions_can_be_told_how_to_speak(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.obeys = ("speed", "seed", "instruct")
    await open_page(heard.page, fake_server)
    await heard.page.get_by_role("textbox", name="Text to speak").fill(TEXT)

    await heard.page.get_by_role("textbox", name="How to speak").fill(" kindly ")
    await heard.page.keyboard.press("Enter")
    await expect(heard.page.locator("#said")).to_have_text("Done.", timeout=10_000)

    assert fake_server.of("open")[0]["instruct"] == "kindly"


async def test_voices_that_do_not_are_not_asked_to(heard: Heard, fake_server: FakeServer) -> None:
    await open_page(heard.page, fake_server)

    await expect(heard.page.locator("#instruct")).to_be_hidden()
    await heard.page.get_by_role("button", name="Speak", exact=True).click()
    await expect(heard.page.get_by_role("button", name="Stop")).to_be_enabled()

    assert "instruct" not in fake_server.of("open")[0]


async def test_a_server_that_loads_its_model_is_waited_for(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.loading = True
    await heard.page.goto(fake_server.url + "/")
    await expect(heard.page.locator("#hint")).to_contain_text("is loading its voices")

    fake_server.faults.loading = False

    await expect(heard.page.locator("#voice option")).to_have_count(2)
    await expect(heard.page.locator("#hint")).to_have_text("This voice speaks English.")
    await expect(heard.page.locator("#problem")).to_be_hidden()


async def test_what_is_asked_for_meanwhile_is_spoken_then(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.loading = True
    await heard.page.goto(fake_server.url + "/")
    await expect(heard.page.locator("#hint")).to_contain_text("What was asked for is spoken then.")
    await heard.page.get_by_role("textbox").fill(TEXT)
    await heard.page.get_by_role("button", name="Speak", exact=True).click()

    fake_server.faults.loading = False

    await expect(heard.page.locator("#said")).to_have_text("Done.", timeout=10_000)
    await expect(heard.page.locator("#problem")).to_be_hidden()
    assert len(fake_server.of("open")) == 1


async def test_stopping_by_the_keyboard_leaves_the_focus_where_one_speaks_again(
    heard: Heard, fake_server: FakeServer
) -> None:
    await open_page(heard.page, fake_server)
    await heard.page.get_by_role("textbox").fill(TEXT * 5)
    await heard.page.get_by_role("button", name="Speak", exact=True).click()
    await heard.sounding()

    await heard.page.get_by_role("button", name="Stop").focus()
    await heard.page.keyboard.press("Enter")

    await expect(heard.page.locator("#said")).to_have_text("Stopped.")
    await expect(heard.page.get_by_role("button", name="Speak", exact=True)).to_be_focused()
