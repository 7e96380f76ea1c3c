"""A page and what is heard of it."""

from __future__ import annotations

import asyncio
import base64
import time
from dataclasses import dataclass

import numpy as np
from playwright.async_api import Page

AUDIBLE = 0.003


@dataclass
class Recording:
    """What went to the loudspeaker of a page."""

    rate: int
    start_s: float
    samples: np.ndarray

    @property
    def sound(self) -> np.ndarray:
        """From the first audible sample to the last."""
        loud = np.flatnonzero(np.abs(self.samples) > AUDIBLE)
        return self.samples[loud[0] : loud[-1] + 1] if len(loud) else self.samples[:0]

    @property
    def seconds(self) -> float:
        return len(self.sound) / self.rate

    @property
    def sounding_s(self) -> float:
        """How long there was sound, the silences in it taken off."""
        size = self.rate // 200
        frames = self.sound[: len(self.sound) // size * size].reshape(-1, size)
        return float((np.abs(frames).max(axis=1, initial=0) > AUDIBLE).sum() * size / self.rate)

    def after(self, time_s: float) -> np.ndarray:
        """The samples from that moment of the context's clock on."""
        return self.samples[max(0, round((time_s - self.start_s) * self.rate)) :]

    def pitch(self, sound: np.ndarray | None = None) -> float:
        """The strongest frequency, by the maximum of a spectrum that is finer than a hertz."""
        part = self.sound if sound is None else sound
        size = max(len(part), 4 * self.rate)
        spectrum = np.abs(np.fft.rfft(part * np.hanning(len(part)), size))
        return float(np.argmax(spectrum) * self.rate / size)


@dataclass
class Heard:
    """A page and its ears."""

    page: Page

    async def speak(self, text: str, options: dict | None = None) -> int:
        """Speak in the harness, as by a click; which utterance it is."""
        script = (
            "([text, options]) => (harness.speak(text, options), harness.utterances.length - 1)"
        )
        return await self.page.evaluate(script, [text, options or {}])

    async def done(self, index: int = 0) -> dict:
        """Wait until an utterance of the harness is done, and tell its result."""
        return await self.page.evaluate("(index) => harness.utterances[index].done", index)

    async def events(self, kind: str) -> list:
        return await self.page.evaluate("(kind) => harness.events(kind)", kind)

    async def times(self, kind: str) -> list[float]:
        """When, on the page's clock in ms, each event of that kind came."""
        script = "(kind) => harness.log.filter(({ event }) => event === kind).map(({ at }) => at)"
        return await self.page.evaluate(script, kind)

    async def until(self, expression: str, timeout_s: float = 30) -> None:
        # Polled from here: waiting inside the page would need a policy that allows eval.
        deadline = time.monotonic() + timeout_s
        while not await self.page.evaluate(expression):
            assert time.monotonic() < deadline, f"not within {timeout_s} s: {expression}"
            await asyncio.sleep(0.02)

    async def watch_lights(self) -> None:
        """Keep each state of the page's text in ``window.lights``: what was said, the word."""
        script = """() => {
          window.lights = [];
          const layer = document.getElementById("lights");
          new MutationObserver(() => {
            const [, said, now] = [...layer.childNodes].map((node) => node.textContent);
            if (now) window.lights.push([said, now]);
          }).observe(layer, { childList: true });
        }"""
        await self.page.evaluate(script)

    async def sounding(self) -> None:
        await self.until("recording.loud()")

    async def recording(self) -> Recording:
        # The recorder tells a block once it is full.
        await self.page.wait_for_timeout(80)
        answer = await self.page.evaluate("recording.all()")
        samples = np.frombuffer(base64.b64decode(answer["data"]), np.float32)
        return Recording(int(answer["rate"]), answer["start"], samples)
