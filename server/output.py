"""A context's way out: the engine's chunks become packets, with the events between them in order.

Encoding runs a chunk or two ahead of sending and no further, so that a context which was made
in a blink does not keep the encoders from another one's first packet.

Knows: chunks, packets, the encoder threads. Does not know: sessions, pacing, sockets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import structlog

from server.encoding import EncoderPool
from server.events import Event
from streaming.audio.audible import first_audible
from streaming.audio.format import AudioFormat
from streaming.audio.levels import LevelMeter
from streaming.audio.packetizer import Packet, Packetizer
from streaming.messages import Failed, Finished
from streaming.samples import SAMPLE_RATE

log = structlog.get_logger(__name__)

AHEAD_SLOTS: Final = 2
LEVEL_STEP_MS: Final = 20


@dataclass(frozen=True, slots=True)
class LevelsAt:
    """Loudness values from ``pts_ms`` on."""

    pts_ms: int
    values: list[float]


@dataclass(frozen=True, slots=True)
class Audible:
    """Where the first sample that can be heard lies, in samples at 24 kHz."""

    samples: int


Ending = Finished | Failed
Item = Packet | LevelsAt | Audible | Event | Ending


@dataclass(frozen=True, slots=True)
class _Chunk:
    pcm: bytes
    last: bool


@dataclass(slots=True)
class _Slot:
    """Items that become ready together; ``None`` while a thread still makes them."""

    items: deque[Item] | None = field(default_factory=deque)
    audio: bool = False


class Output:
    """Items in the order in which they are to be sent: ``peek``, then ``pop``."""

    def __init__(
        self,
        audio: AudioFormat,
        pool: EncoderPool,
        *,
        levels: bool,
        on_ready: Callable[[], None],
    ) -> None:
        self._pool = pool
        self._thread = pool.thread()
        # 24 kHz PCM is only sliced: a thread would cost more than the work.
        self._inline = audio.codec == "pcm_s16le" and audio.rate == SAMPLE_RATE
        self._encoder = _Encoder(audio, levels=levels)
        self._on_ready = on_ready
        self._waiting: deque[_Chunk | Event | Ending] = deque()
        self._slots: deque[_Slot] = deque()
        self._deadline_s = 0.0
        self._closed = False

    @property
    def pending(self) -> bool:
        """Whether anything is to be sent yet."""
        return bool(self._waiting or self._slots)

    def put(self, entry: Event | Ending) -> None:
        """An event, or the context's end, behind the audio so far."""
        self._waiting.append(entry)

    def put_audio(self, pcm: bytes, *, last: bool) -> None:
        """A chunk of 24 kHz PCM; ``last`` where the context is known to end with it."""
        self._waiting.append(_Chunk(pcm, last))

    def peek(self, deadline_s: float) -> Item | None:
        """The next item to send, or ``None`` while there is none (``on_ready`` tells).

        ``deadline_s`` is when the listener runs dry; encoding is done in that order.
        """
        self._deadline_s = max(self._deadline_s, deadline_s)
        self._fill()
        while self._slots and self._slots[0].items is not None and not self._slots[0].items:
            self._slots.popleft()
            self._fill()
        if not self._slots or self._slots[0].items is None:
            return None
        return self._slots[0].items[0]

    def pop(self) -> None:
        """The item last peeked at has been sent."""
        items = self._slots[0].items
        assert items is not None
        items.popleft()

    def close(self) -> None:
        """Drop everything; the encoder is freed in its own thread, behind a job that may run."""
        if not self._closed:
            self._closed = True
            self._waiting.clear()
            self._slots.clear()
            self._submit(deque[Item], None, self._encoder.close)

    def _fill(self) -> None:
        while self._waiting and sum(slot.audio for slot in self._slots) < AHEAD_SLOTS:
            entry = self._waiting.popleft()
            if isinstance(entry, _Chunk):
                self._encode(partial(self._encoder.push, entry.pcm, last=entry.last))
                continue
            if isinstance(entry, Finished):
                self._encode(self._encoder.finish)
            self._slots.append(_Slot(deque([entry])))

    def _encode(self, work: Callable[[], deque[Item]]) -> None:
        if self._inline:
            try:
                items = work()
            except Exception as fault:  # noqa: BLE001 - told to the client as this context's end
                items = _failed(fault)
            self._slots.append(_Slot(items, audio=True))
            return
        slot = _Slot(None, audio=True)
        self._slots.append(slot)
        self._submit(work, slot)

    def _submit(
        self,
        work: Callable[[], deque[Item]],
        slot: _Slot | None,
        then: Callable[[], None] | None = None,
    ) -> None:
        def run() -> deque[Item]:
            items = work()
            if then is not None:
                then()
            return items

        def done(result: deque[Item] | BaseException) -> None:
            if slot is None or self._closed:
                return
            slot.items = _failed(result) if isinstance(result, BaseException) else result
            self._on_ready()

        self._pool.submit(self._thread, self._deadline_s, run, done)


def _failed(fault: BaseException) -> deque[Item]:
    """An encoder that raises ends its context, and no other."""
    log.error("encoding failed", exc_info=fault)
    failed = Failed(ctx=0, code="internal", message=f"encoding failed: {fault}", retryable=True)
    return deque([failed])


class _Encoder:
    """What runs in the encoder thread; only ever one job at a time."""

    def __init__(self, audio: AudioFormat, *, levels: bool) -> None:
        self._packetizer = Packetizer(audio)
        self._meter = LevelMeter() if levels else None
        self._level_steps = 0
        self._position_samples = 0
        self._found_audible = False
        self._ended = False

    def push(self, pcm: bytes, *, last: bool) -> deque[Item]:
        items: deque[Item] = deque()
        if not self._found_audible:
            offset = first_audible(pcm)
            if offset is not None:
                self._found_audible = True
                items.append(Audible(self._position_samples + offset))
        self._position_samples += len(pcm) // 2
        if self._meter is not None:
            self._add_levels(items, self._meter.push(pcm))
        items.extend(self._packetizer.push(pcm, last=last))
        self._ended = last
        return items

    def finish(self) -> deque[Item]:
        items: deque[Item] = deque()
        if self._ended:
            return items
        if self._meter is not None:
            self._add_levels(items, self._meter.finish())
        items.extend(self._packetizer.finish())
        return items

    def close(self) -> None:
        self._packetizer.close()

    def _add_levels(self, items: deque[Item], values: list[float]) -> None:
        if values:
            items.append(LevelsAt(self._level_steps * LEVEL_STEP_MS, values))
            self._level_steps += len(values)
