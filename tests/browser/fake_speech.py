"""What the fake server says: tones for text, and the messages that tell of them.

Pure. ``"660Hz"`` in a text sets the pitch from there on; each character lasts ``MS_A_CHAR``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from opuslib_next import Encoder

RATE = 24_000
CHUNK = 1920
MS_A_CHAR = 20
PRE_SKIP = 312
SENTENCE = re.compile(r"[^.!?。\n]*[.!?。\n]+\s*|.+")


@dataclass
class Context:
    """One stream of speech: text in, chunks out, events at their places between them."""

    ctx: str
    sid: int
    text: str = ""
    text_seq: int = 0
    released: int = 0
    """Characters that have become sound."""
    ended: bool = False
    segments: int = 0
    pcm: np.ndarray = field(default_factory=lambda: np.zeros(0, "<i2"))
    sent: int = 0
    pitch: float = 440.0
    phase: float = 0.0
    flushes: list[tuple[str, int]] = field(default_factory=list)
    """Ids, and how much of the sound comes before each."""
    marks: list[tuple[int, dict]] = field(default_factory=list)
    """Events, and the sample before which each is sent."""
    encoder: Encoder = field(default_factory=lambda: Encoder(RATE, 1, "audio"))

    def release(self, *, everything: bool) -> None:
        """Make segments, one a sentence, and their sound."""
        for match in SENTENCE.finditer(self.text[self.released :]):
            if match.group()[-1] not in ".!?。\n " and not everything:
                return
            start = self.released
            self.released += len(match.group())
            if match.group().strip():
                self._speak(match.group(), start)

    def _speak(self, text: str, start: int) -> None:
        ms = len(self.pcm) / RATE * 1000
        self.marks.append((len(self.pcm), self._segment(text, start, ms)))
        self.marks.append((len(self.pcm), self._words(text, start, ms)))
        self.segments += 1
        if (match := re.search(r"(\d+)Hz", text)) is not None:
            self.pitch = float(match.group(1))
        length = len(text) * MS_A_CHAR * RATE // 1000
        phases = self.phase + 2 * np.pi * self.pitch / RATE * np.arange(1, length + 1)
        self.phase = float(phases[-1])
        tone = (0.5 * np.sin(phases) * 32767).astype("<i2")
        self.pcm = np.concatenate([self.pcm, tone])

    def chunk(self) -> np.ndarray | None:
        """The next 80 ms, if they are there; the end is padded."""
        left = len(self.pcm) - self.sent
        # The encoder is late by its pre-skip: an end without padding needs a chunk more.
        late = self.ended and self.sent > 0 and left > -(PRE_SKIP // 2)
        waiting = 0 < left < CHUNK and self.released == len(self.text)
        if left < CHUNK and not late and not waiting:
            return None
        part = self.pcm[self.sent : self.sent + CHUNK]
        padding = np.zeros(CHUNK - len(part), "<i2")
        if not self.ended:  # More may come: what is filled in belongs to the sound.
            self.pcm = np.concatenate([self.pcm, padding])
        self.sent += CHUNK
        return np.concatenate([part, padding])

    def due(self) -> list[dict]:
        """The events that come before the next chunk."""
        events = [event for place, event in self.marks if place <= self.sent]
        self.marks = [mark for mark in self.marks if mark[0] > self.sent]
        return events

    def flushed(self) -> list[dict]:
        """The flushes whose sound has been sent."""
        answered = [name for name, place in self.flushes if place <= self.sent]
        self.flushes = [flush for flush in self.flushes if flush[1] > self.sent]
        base = {"type": "flushed", "ctx": self.ctx, "pts_ms": self.sent / RATE * 1000}
        return [{**base, "id": name} for name in answered]

    def _segment(self, text: str, start: int, ms: float) -> dict:
        ends = {"char_start": start, "char_end": start + len(text.rstrip())}
        base = {"type": "segment", "ctx": self.ctx, "index": self.segments, "pts_ms": ms}
        return {**base, "text": text.rstrip(), **ends}

    def _words(self, text: str, start: int, ms: float) -> dict:
        items = [
            {
                "text": match.group(),
                "char_start": start + match.start(),
                "char_end": start + match.end(),
                "start_ms": ms + match.start() * MS_A_CHAR,
                "end_ms": ms + match.end() * MS_A_CHAR,
            }
            for match in re.finditer(r"\S+", text)
        ]
        return {"type": "words", "ctx": self.ctx, "items": items, "source": "estimate"}

    def done(self) -> dict:
        """The end, all of it having been sent."""
        times = {"first_packet_ms": 7, "first_delta_to_packet_ms": 8, "ttfa_ms": 9, "rtf": 0.01}
        samples = len(self.pcm)
        length = {"samples": samples, "audio_ms": samples / RATE * 1000, "last_seq": 0}
        return {"type": "done", "ctx": self.ctx, "reason": "completed", **length, **times}

    def cancelled(self, played_ms: float) -> dict:
        """The end, some of it having been heard."""
        heard = min(len(self.text), int(played_ms / MS_A_CHAR))
        texts = {"text_spoken": self.text[:heard], "text_remaining": self.text[heard:]}
        base = {"type": "cancelled", "ctx": self.ctx, "played_ms": played_ms, "source": "client"}
        return {**base, "audio_sent_ms": self.sent / RATE * 1000, **texts}

    def encode(self, codec: str, chunk: np.ndarray) -> bytes:
        """A packet of Opus, or PCM at 48 kHz."""
        if codec == "opus":
            return bytes(self.encoder.encode(chunk.tobytes(), CHUNK))
        return np.repeat(chunk, 2).astype("<i2").tobytes()


def error(code: str, message: str, status: int, **more: object) -> dict:
    """An error message, not fatal unless ``more`` says so."""
    base = {"type": "error", "code": code, "message": message, "status": status}
    return {**base, "fatal": False, "retryable": False, "retry_after_ms": None, **more}


def packet(kind_flags: int, sid: int, seq: int, pts: int, payload: bytes) -> bytes:
    """The header of an audio message, and the payload after it."""
    start = b"\x11" + kind_flags.to_bytes(1, "big") + sid.to_bytes(2, "big")
    return start + seq.to_bytes(4, "big") + pts.to_bytes(8, "big") + payload
