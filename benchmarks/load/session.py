"""One listener: a session that opens contexts one after another and measures each.

Knows: the protocol's messages as far as load needs them. Does not know: when to speak (arrivals.py
says), how figures are made of records (report.py does).
"""

from __future__ import annotations

import asyncio
import json
import random
import struct
import time
from collections import Counter
from typing import Any

from websockets.exceptions import InvalidHandshake

from benchmarks.load.measure import PTS_PER_MS, Meter, Record
from benchmarks.load.options import CONNECT_S, Options
from benchmarks.load.texts import TOKEN_INTERVAL_S, deltas, text_for
from benchmarks.load.wire import Wire, connect

_HEADER = struct.Struct(">BBHIQ")
_FRAME_MS = 80
_FRAME_PTS = _FRAME_MS * PTS_PER_MS

BACK_OFF_S = 0.5
"""Wait at least so long after an error: a refused client that asks again at once is a flood."""

REFUSALS = frozenset({"overloaded", "too_many_contexts", "rate_limited"})
"""What a server says that has no room."""

VOID = frozenset({"unknown_context", "context_gone"})
"""What it says of the text of such a context, which was on its way already."""

NO_PACKET_S = 5.0
"""A context without a packet for so long is counted as an error, ``no_packet``."""


class Refused(OSError):
    """The server closed the connection before it was ready; what it said is counted already."""


class Session:
    """Speaks one context at a time, keeps the records, counts errors and goes on."""

    def __init__(self, options: Options, number: int, end_s: float) -> None:
        self.records: list[Record] = []
        self.errors: Counter[str] = Counter()
        self.played_out_s: float | None = None
        """When a listener of the whole session has heard everything so far."""
        self.pre_skip = 0
        self._options = options
        self._number = number
        self._end_s = end_s
        self._random = random.Random(number)  # noqa: S311 - the same run every time, no secret
        self._wire: Wire | None = None
        self._ready: asyncio.Future[None] | None = None
        self._said = 0
        self._meter: Meter | None = None
        self._sid: int | None = None
        self._over: asyncio.Future[None] | None = None
        self._retry_s = 0.0
        self._refused: str | None = None
        """The last context that the server did not want."""

    @property
    def connected(self) -> bool:
        """Whether something can be said."""
        return self._wire is not None

    async def connect(self) -> None:
        """Open the connection if there is none; tries again until the run ends."""
        while not self.connected and time.perf_counter() < self._end_s:
            try:
                async with asyncio.timeout(CONNECT_S):
                    await self._open()
            except Refused:
                await self._sleep(self._retry_s)
            except (OSError, InvalidHandshake, TimeoutError) as error:
                self.errors[f"connect_{type(error).__name__}"] += 1
                await self._sleep(BACK_OFF_S)

    async def say(self) -> None:
        """One context from its first delta to its end, or to the end of the run."""
        text = text_for(self._number, self._said)
        self._said += 1
        self._over = asyncio.get_running_loop().create_future()
        opened_s = time.perf_counter()
        self._meter, self._sid = Meter(opened_s), None
        voices = self._options.voices
        voice = {"voice": voices[self._number % len(voices)]} if voices else {}
        self._send({"type": "open", "ctx": self._ctx, **voice})
        if self._options.text_mode == "llm":
            await self._write(text)
        else:
            self._text(text)
        if not self._over.done():
            self._send({"type": "end", "ctx": self._ctx})
        await self._until_over(opened_s)

    def close(self) -> None:
        """The run is over: what still speaks is cut off."""
        self._finish("cut")
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    # --- what arrives ---------------------------------------------------------------------

    def on_binary(self, data: bytes, now_s: float) -> None:
        """A packet behind its 16-byte header."""
        if self._wire is None:
            return  # the run is over; what was on its way is nobody's
        _, _, sid, _, pts = _HEADER.unpack_from(data)
        meter = self._meter
        if meter is None or sid != self._sid:
            self.errors["audio_after_end"] += 1
            return
        first = meter.first_s is None
        meter.packet(pts, _FRAME_PTS, data[_HEADER.size :], now_s)
        if first and self._random.random() < self._options.barge_in:
            delay_s = self._random.uniform(0.1, 2.0)
            asyncio.get_running_loop().call_later(delay_s, self._cancel, meter)

    def on_text(self, text: bytes, now_s: float) -> None:
        """An event."""
        if self._wire is None:
            return  # as above
        event: dict[str, Any] = json.loads(text)
        kind = event["type"]
        mine = event.get("ctx") == self._ctx and self._meter is not None
        if kind == "ready" and self._ready is not None and not self._ready.done():
            self.pre_skip = event["audio"]["pre_skip"]
            self._ready.set_result(None)
        elif kind == "opened" and mine:
            self._sid = event["sid"]
        elif kind == "segment" and mine and event["index"] == 0:
            assert self._meter
            self._meter.first_segment(event["char_end"])
        elif kind == "done" and mine:
            self._finish("done", now_s, event["audio_ms"], event["first_packet_ms"])
        elif kind == "cancelled" and mine:
            self._finish("cancelled", now_s, event["audio_sent_ms"])
        elif kind == "error":
            self._failed(event, now_s, mine=mine)

    def on_close(self, code: int) -> None:
        """The connection is gone though nobody here closed it."""
        if self._wire is None:
            return
        self._wire = None
        self.errors[f"closed_{code}"] += 1
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(Refused(f"closed with {code}"))
        self._retry_s = max(self._retry_s, BACK_OFF_S)
        self._finish("failed")

    # --- inside ---------------------------------------------------------------------------

    @property
    def _ctx(self) -> str:
        return f"load-{self._said}"

    async def _open(self) -> None:
        self._ready = asyncio.get_running_loop().create_future()
        self._wire = await connect(self._options.stream_url, self._options.key, self)
        audio = {"codec": self._options.codec, "rate": 24_000, "frame_ms": _FRAME_MS}
        pacing = {"lead_ms": self._options.lead_ms}
        self._send({"type": "hello", "version": 1, "audio": audio, "pacing": pacing})
        try:
            await self._ready
        except BaseException:
            if self._wire is not None:
                wire, self._wire = self._wire, None
                wire.abort()
            raise

    async def _write(self, text: str) -> None:
        """As a language model writes; stops when the context or the run is over."""
        assert self._over
        due_s = time.perf_counter()
        for delta in deltas(text, self._said):
            await asyncio.sleep(due_s - time.perf_counter())
            if self._over.done() or self._left_s() == 0:
                return
            self._text(delta)
            due_s += TOKEN_INTERVAL_S

    async def _until_over(self, opened_s: float) -> None:
        assert self._over
        meter = self._meter
        while not self._over.done() and time.perf_counter() < self._end_s:
            await asyncio.wait([self._over], timeout=min(1.0, self._left_s()))
            waited_s = time.perf_counter() - opened_s
            if meter is self._meter and meter and not meter.packets and waited_s > NO_PACKET_S:
                self.errors["no_packet"] += 1
                self._send({"type": "cancel", "ctx": self._ctx})
                self._finish("failed")
        if self._retry_s:
            await self._sleep(self._retry_s)
            self._retry_s = 0.0

    def _text(self, delta: str) -> None:
        if self._meter is not None:
            self._meter.delta_sent(len(delta), time.perf_counter())
        self._send({"type": "text", "ctx": self._ctx, "delta": delta})

    def _cancel(self, meter: Meter) -> None:
        if meter is self._meter:
            meter.cancel_sent_s = time.perf_counter()
            self._send({"type": "cancel", "ctx": self._ctx})

    def _failed(self, event: dict[str, Any], now_s: float, *, mine: bool) -> None:
        code = event["code"]
        if code in VOID and event.get("ctx") == self._refused:
            return
        self.errors[code] += 1
        self._retry_s = max(BACK_OFF_S, (event.get("retry_after_ms") or 0) / 1000)
        if mine and (event["fatal"] or self._sid is None):
            refused = code in REFUSALS and self._meter is not None and not self._meter.packets
            if refused:
                self._refused = self._ctx
            self._finish("refused" if refused else "failed", now_s)

    def _finish(
        self,
        outcome: str,
        now_s: float | None = None,
        audio_ms: float | None = None,
        server_ms: float | None = None,
    ) -> None:
        meter, self._meter, self._sid = self._meter, None, None
        if meter is None:
            return
        record = meter.record(
            outcome,
            now_s=time.perf_counter() if now_s is None else now_s,
            silent_since_s=self.played_out_s,
            audio_ms=audio_ms,
            server_first_packet_ms=server_ms,
        )
        self.errors["hole"] += meter.holes
        self.records.append(record)
        if meter.first_s is not None:
            start_s = max(meter.first_s, self.played_out_s or 0.0)
            self.played_out_s = start_s + record.audio_ms / 1000
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    def _send(self, message: dict[str, Any]) -> None:
        if self._wire is not None:
            self._wire.send(json.dumps(message).encode())

    def _left_s(self) -> float:
        return max(0.0, self._end_s - time.perf_counter())

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, self._left_s()))
