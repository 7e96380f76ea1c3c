# ruff: noqa: RUF001 - full-width marks are meant
"""Chinese typed into the page of a server whose default voice speaks English."""

from __future__ import annotations

import pytest
from hearing import Heard
from playwright.async_api import expect
from test_page import finished, open_page, speak

pytest.importorskip("rjieba", reason="the Mandarin voice is not there: make setup-mandarin")

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def test_is_spoken_by_the_voice_that_can_where_none_was_chosen(
    heard: Heard, live_server
) -> None:
    await open_page(heard, live_server.url, "你好，世界。")
    await speak(heard)
    await heard.page.wait_for_function(
        "() => document.getElementById('hint').textContent.includes('No voice was chosen')"
    )
    await finished(heard)
    await expect(heard.page.get_by_role("alert")).to_be_hidden()


async def test_a_voice_that_was_chosen_is_kept(heard: Heard, live_server) -> None:
    await open_page(heard, f"{live_server.url}/?voice=heart", "你好，世界。")
    await speak(heard)
    await expect(heard.page.get_by_role("alert")).to_contain_text("it speaks English")
