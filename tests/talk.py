"""A client for tests: nothing but `websockets` and the specification, sharing no code with ours."""

from __future__ import annotations

import asyncio
import io
import json
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import av
import numpy as np
from websockets.asyncio.client import ClientConnection, connect

HEADER = struct.Struct(">BBHIQ")
TIMEOUT_S = 20.0

Event = dict[str, Any]


@dataclass(frozen=True)
class Audio:
    """A binary message with the 16-byte header taken apart."""

    version: int
    kind: int
    flags: int
    sid: int
    seq: int
    pts: int
    payload: bytes
    at_s: float

    @classmethod
    def parse(cls, data: bytes) -> Audio:
        head, flags, sid, seq, pts = HEADER.unpack_from(data)
        return cls(head >> 4, head & 15, flags, sid, seq, pts, data[16:], time.perf_counter())

    @property
    def first(self) -> bool:
        return bool(self.flags & 1)

    @property
    def last(self) -> bool:
        return bool(self.flags & 2)

    @property
    def resent(self) -> bool:
        return bool(self.flags & 16)


@dataclass
class Talk:
    """One connection and all it has received, in order."""

    socket: ClientConnection
    got: list[Event | Audio] = field(default_factory=list)
    sent_s: dict[str, float] = field(default_factory=dict)

    async def send(self, type_: str, **fields: Any) -> None:
        self.sent_s[type_] = time.perf_counter()
        await self.socket.send(json.dumps({"type": type_, **fields}))

    async def raw(self, message: str | bytes) -> None:
        await self.socket.send(message)

    async def next(self, timeout_s: float = TIMEOUT_S) -> Event | Audio:
        async with asyncio.timeout(timeout_s):
            message = await self.socket.recv()
        item = Audio.parse(message) if isinstance(message, bytes) else json.loads(message)
        if isinstance(item, dict):
            item["at_s"] = time.perf_counter()
        self.got.append(item)
        return item

    async def until(self, type_: str, timeout_s: float = TIMEOUT_S, **fields: Any) -> Event:
        """Receive until an event of that type with those fields comes."""
        async with asyncio.timeout(timeout_s):
            while True:
                item = await self.next(timeout_s)
                if isinstance(item, dict) and item["type"] == type_:
                    if all(item.get(name) == value for name, value in fields.items()):
                        return item
                    continue

    async def until_audio(self, sid: int | None = None, timeout_s: float = TIMEOUT_S) -> Audio:
        async with asyncio.timeout(timeout_s):
            while True:
                item = await self.next(timeout_s)
                if isinstance(item, Audio) and sid in {None, item.sid}:
                    return item

    async def quiet(self, seconds: float) -> list[Event | Audio]:
        """Everything that comes within so long."""
        end = time.perf_counter() + seconds
        found: list[Event | Audio] = []
        while (left := end - time.perf_counter()) > 0:
            try:
                found.append(await self.next(left))
            except TimeoutError:
                break
        return found

    async def speak(self, text: str, **fields: Any) -> Event:
        """One implicit context from beginning to `done`."""
        if fields:
            await self.send("open", **fields)
        ctx = {"ctx": fields["ctx"]} if "ctx" in fields else {}
        await self.send("text", delta=text, **ctx)
        await self.send("end", **ctx)
        return await self.until("done")

    def events(self, type_: str | None = None, **fields: Any) -> list[Event]:
        return [
            item
            for item in self.got
            if isinstance(item, dict)
            and type_ in {None, item["type"]}
            and all(item.get(name) == value for name, value in fields.items())
        ]

    def audio(self, sid: int | None = None) -> list[Audio]:
        return [item for item in self.got if isinstance(item, Audio) and sid in {None, item.sid}]

    def pcm(self, sid: int | None = None) -> np.ndarray:
        """The payloads of a pcm_s16le context, joined."""
        return np.frombuffer(b"".join(packet.payload for packet in self.audio(sid)), "<i2")


@asynccontextmanager
async def talking(url: str, hello: Event | None = None, **options: Any) -> AsyncIterator[Talk]:
    """Connect; with ``hello`` (may be empty) also say hello and wait for ``ready``."""
    options.setdefault("max_size", None)
    options.setdefault("compression", None)
    async with connect(url, **options) as socket:
        talk = Talk(socket)
        if hello is not None:
            await talk.send("hello", **hello)
            await talk.until("ready")
        yield talk


def decode_opus(
    packets: list[Audio], samples: int | None = None, pre_skip: int = 312
) -> np.ndarray:
    """Decode bare packets with FFmpeg's own decoder: 48 kHz float mono, pre-skip dropped."""
    decoder = av.CodecContext.create("opus", "r")
    decoder.sample_rate = 48_000
    decoder.layout = "mono"
    decoder.format = av.AudioFormat("flt")
    decoder.extradata = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 0, 48_000, 0, 0)
    parts: list[np.ndarray] = []
    for packet in packets:
        parts.extend(_mono(frame) for frame in decoder.decode(av.Packet(packet.payload)))
    parts.extend(_mono(frame) for frame in decoder.decode(None))
    joined = np.concatenate(parts)[pre_skip:] if parts else np.zeros(0, np.float32)
    return joined if samples is None else joined[: samples * 2]


def _mono(frame: av.AudioFrame) -> np.ndarray:
    samples = frame.to_ndarray().astype(np.float32)
    return samples.reshape(-1) if samples.shape[0] == 1 else samples[0]


def decode_file(data: bytes) -> tuple[np.ndarray, int]:
    """Decode a whole audio file of any format: mono float32 samples and their rate."""
    with av.open(io.BytesIO(data)) as container:
        stream = container.streams.audio[0]
        resampler = av.AudioResampler(format="flt", layout="mono")
        parts = [
            out.to_ndarray().reshape(-1)
            for frame in container.decode(stream)
            for out in resampler.resample(frame)
        ]
        return np.concatenate(parts), stream.rate


async def eventually(check: Callable[[], bool], timeout_s: float = TIMEOUT_S) -> None:
    """Wait until ``check`` holds; fails when it does not in time."""
    end = time.perf_counter() + timeout_s
    while not check():
        assert time.perf_counter() < end, f"not so after {timeout_s} s"
        await asyncio.sleep(0.01)
