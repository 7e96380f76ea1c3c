"""A real Chromium, a server of faults, and pages whose sound is recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import fake_server as served
import pytest
import pytest_asyncio
from fake_server import FakeServer
from hearing import Heard
from playwright.async_api import Browser, BrowserContext, async_playwright
from profiles import CHROMIUM, FLAGS, new_context


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        await chromium.close()


@pytest_asyncio.fixture(loop_scope="module")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    context = await new_context(browser)
    yield context
    await context.close()


@pytest_asyncio.fixture(loop_scope="module")
async def heard(context: BrowserContext) -> AsyncIterator[Heard]:
    """A page that has not been opened yet; an error that nobody catches fails the test."""
    page = await context.new_page()
    uncaught: list[object] = []
    page.on("pageerror", lambda error: uncaught.append(error))  # noqa: PLW0108  it marks its handlers
    yield Heard(page)
    assert uncaught == []


@pytest.fixture
def all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No packet waits for those before it to be heard: none is late because the machine is."""
    monkeypatch.setattr(served, "LEAD_MS", 60_000)


@pytest.fixture
def fake_server() -> Iterator[FakeServer]:
    server = FakeServer().start()
    yield server
    server.stop()
