"""Sound and the click (BRO-01): made inside it, or visibly blocked, and nothing lost meanwhile."""

from __future__ import annotations

import asyncio

import pytest
from fake_server import FakeServer
from hearing import Heard

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest.mark.usefixtures("all_at_once")
async def test_the_first_click_sounds_though_connecting_takes_three_seconds(
    heard: Heard, fake_server: FakeServer
) -> None:
    fake_server.faults.connect_delay_s = 3
    await heard.page.goto(fake_server.url + "/harness/")
    await heard.page.click("#speak")

    result = await heard.done()

    assert result["reason"] == "completed"
    assert await heard.events("blocked") == []
    recording = await heard.recording()
    assert recording.seconds == pytest.approx(result["audioMs"] / 1000, abs=0.03)


@pytest.mark.usefixtures("all_at_once")
async def test_without_any_click_it_says_that_it_is_blocked_and_then_plays_from_the_first_sample(
    heard: Heard, fake_server: FakeServer
) -> None:
    # By the page itself: what a test evaluates counts as a user's gesture.
    await heard.page.goto(fake_server.url + "/harness/?speak&text=440Hz. Nobody clicked yet.")
    await asyncio.sleep(2.5)
    await heard.page.mouse.click(300, 300)

    result = await heard.done()
    assert await heard.events("blocked") == [True, False]
    [blocked_at, heard_at] = await heard.times("blocked")
    assert heard_at - blocked_at > 1500
    recording = await heard.recording()
    assert recording.seconds == pytest.approx(result["audioMs"] / 1000, abs=0.03)


async def test_the_server_is_held_back_while_nothing_is_heard(
    heard: Heard, fake_server: FakeServer
) -> None:
    text = "440Hz. A text of many seconds, of which hardly anything is sent ahead. " * 3
    await heard.page.goto(f"{fake_server.url}/harness/?speak&text={text}")
    await asyncio.sleep(2)

    assert await heard.page.evaluate("harness.speaker.stats.packets") <= 8
    assert {message["pts_ms"] for message in fake_server.of("played")} == {0}


async def test_the_page_shows_a_button_to_hear_and_a_click_on_it_is_enough(
    heard: Heard, fake_server: FakeServer
) -> None:
    await heard.page.goto(fake_server.url + "/?speak&text=440Hz. Opened by a link.")
    button = heard.page.get_by_role("button", name="Click to hear")
    await button.wait_for(timeout=5000)

    await button.click()

    await heard.sounding()
    assert await button.is_hidden()
