"""How Chromium is started, and what each of its profiles begins with."""

from __future__ import annotations

import json
import os
from pathlib import Path

from playwright.async_api import Browser, BrowserContext

HERE = Path(__file__).parent
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
AT_RATE = """
{
  const Native = AudioContext;
  globalThis.AudioContext = class extends Native {
    constructor(options) {
      super({ ...options, sampleRate: %d });
    }
  };
}
"""
"""A script: the device has that rate."""


async def new_context(browser: Browser, **options: object) -> BrowserContext:
    """A fresh profile whose pages record what they play (the recorder is no part of the page)."""
    context = await browser.new_context(**{"bypass_csp": True, **options})
    source = json.dumps((HERE / "recorder_worklet.js").read_text(encoding="utf-8"))
    await context.add_init_script(f"window.recorderSource = {source}")
    await context.add_init_script(path=HERE / "recorder.js")
    return context
