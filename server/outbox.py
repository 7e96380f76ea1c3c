"""How a session's messages leave: numbered, kept for a resume, over the connection of the moment.

Knows: sequence numbers, the ring, a link that may stall or be gone. Does not know: contexts,
pacing, what the messages say (an ``Adapter`` encodes).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import structs

from server.events import Event
from server.ring import ResumeRing, RingBudget, Sent
from server.settings import LimitSettings
from streaming.audio.packetizer import Packet
from streaming.clock import Clock, Timer
from streaming.errors import CosystreamError, SlowConsumer

RESUME_AUDIO_S = 30.0
MAX_BUFFERED_BYTES = 1_048_576
"""Answers to a client that sends and never reads; past this it is a slow consumer."""


class Link(Protocol):
    """What a session sends by; ``server.transport.Wire`` is one."""

    on_writable: Callable[[bool], None] | None

    @property
    def can_write(self) -> bool:
        """Whether the peer takes data."""
        ...

    @property
    def buffered_bytes(self) -> int:
        """Bytes that wait for the peer."""
        ...

    def write_text(self, data: bytes) -> None:
        """Send a text message."""

    def write_binary(self, data: bytes) -> None:
        """Send a binary message."""

    def close(self, code: int, reason: str) -> None:
        """Close behind what was written."""

    def abort(self, code: int, reason: str) -> None:
        """Drop the connection."""


class Adapter(Protocol):
    """How one wire protocol writes what a session says."""

    framing: str

    def event(self, event: Event) -> bytes:
        """An event as a text message."""
        ...

    def packet(self, packet: Packet, sid: int, seq: int) -> bytes:
        """A packet as a binary message."""
        ...

    def resent(self, data: bytes) -> bytes:
        """A binary message that is sent again."""
        ...

    def close_code(self, error: CosystreamError) -> int:
        """The close code for an error that ends the connection."""
        ...


class Outbox:
    """One session's way to its client, whatever connection serves it."""

    def __init__(
        self,
        adapter: Adapter,
        limits: LimitSettings,
        budget: RingBudget,
        clock: Clock,
        *,
        on_writable: Callable[[], None],
        on_slow: Callable[[SlowConsumer], None],
    ) -> None:
        self.adapter = adapter
        self.seq = 0
        self._slow_s = limits.slow_consumer_s
        self._ring = ResumeRing(RESUME_AUDIO_S, limits.resume_bytes, budget)
        self._clock = clock
        self._on_writable = on_writable
        self._on_slow = on_slow
        self._link: Link | None = None
        self._stall_timer: Timer | None = None
        self._stalled_bytes = 0
        self._buffer_limit = MAX_BUFFERED_BYTES

    @property
    def link(self) -> Link | None:
        """The connection of the moment."""
        return self._link

    @property
    def can_write(self) -> bool:
        """Whether there is a peer, and it takes data."""
        return self._link is not None and self._link.can_write

    def attach(self, link: Link) -> None:
        """Send over this connection from now on."""
        self._link = link
        self._buffer_limit = MAX_BUFFERED_BYTES
        link.on_writable = self._writable_changed
        if not link.can_write:
            self._watch_stall()

    def detach(self) -> Link | None:
        """Send over nothing; what is sequenced meanwhile waits in the ring."""
        link, self._link = self._link, None
        if link is not None:
            link.on_writable = None
        self._stop_watching()
        return link

    def event(self, event: Event) -> None:
        """Send an event with the next number, and keep it."""
        self.seq += 1
        data = self.adapter.event(structs.replace(event, seq=self.seq))
        self._ring.add(Sent(self.seq, data, binary=False))
        self._write_text(data)

    def unsequenced(self, event: Event) -> None:
        """Send an event that a resume need not repeat."""
        self._write_text(self.adapter.event(event))

    def packet(self, packet: Packet, sid: int) -> int:
        """Send a packet with the next number, and keep it; the bytes it took."""
        self.seq += 1
        data = self.adapter.packet(packet, sid, self.seq)
        self._ring.add(Sent(self.seq, data, binary=True, samples_48k=packet.duration_48k))
        if self._link is not None:
            self._link.write_binary(data)
        return len(data)

    def can_resend_after(self, seq: int) -> bool:
        """Whether nothing after ``seq`` has been forgotten."""
        return self._ring.can_resume_after(seq)

    def resend_after(self, seq: int) -> None:
        """Send everything after ``seq`` again, over the connection of the moment."""
        if self._link is None:
            return
        for sent in self._ring.after(seq):
            if sent.binary:
                self._link.write_binary(self.adapter.resent(sent.data))
            else:
                self._link.write_text(sent.data)
        # What we chose to send at once is not held against the client.
        self._buffer_limit = MAX_BUFFERED_BYTES + self._link.buffered_bytes

    def forget(self) -> None:
        """The session is over."""
        self._ring.close()

    def _write_text(self, data: bytes) -> None:
        if self._link is None:
            return
        self._link.write_text(data)
        if self._link.buffered_bytes > self._buffer_limit:
            self._too_slow(f"{self._link.buffered_bytes} bytes wait unread")

    def _writable_changed(self, writable: bool) -> None:
        self._stop_watching()
        if writable:
            self._on_writable()
        elif self._link is not None:
            self._watch_stall()

    def _watch_stall(self) -> None:
        assert self._link is not None
        self._stalled_bytes = self._link.buffered_bytes
        self._stall_timer = self._clock.call_at(self._clock.now() + self._slow_s, self._check_stall)

    def _check_stall(self) -> None:
        if self._link is None or self._link.can_write:
            return
        if self._link.buffered_bytes < self._stalled_bytes:
            self._watch_stall()
        else:
            self._too_slow(f"the socket took no data for {self._slow_s:g} s")

    def _too_slow(self, why: str) -> None:
        self._on_slow(SlowConsumer(f"{why}; read faster or ask for a smaller codec"))

    def _stop_watching(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
