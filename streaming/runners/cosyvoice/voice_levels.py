"""Voices on their way down: from the device to the host, and from there to nothing.

Only what nobody speaks with leaves, the longest unused first; coming back it is copied, which is
less work than making it again. The flow's parts are moved by the flow's thread, the LLM's by the
LLM's. Knows: bounds, order. Does not know: which voices there are, what they are made of.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from streaming.cosyvoice.flow.host import OutOfHostMemory
from streaming.cosyvoice.flow.stream import Flow
from streaming.cosyvoice.flow.values import FlowVoice
from streaming.runners.cosyvoice.copy_log import NOTHING_KEPT, TO_HOST, CopyLog
from streaming.runners.cosyvoice.rhythm import FLOW
from streaming.runners.cosyvoice.voice_parts import FlowPart, VoicePart


class VoicePages:
    """The flow's parts."""

    def __init__(
        self,
        flow: Flow,
        idle: Callable[[], Sequence[FlowPart]],
        claiming: threading.Lock,
        budget_bytes: int,
        copies: CopyLog = NOTHING_KEPT,
    ) -> None:
        """``idle`` tells the voices that nobody speaks with, the longest unused first.

        They may stay on the device as long as they hold no more than ``budget_bytes``. ``claiming``
        is held by whoever begins to speak with a voice.
        """
        self._flow = flow
        self._idle = idle
        self._claiming = claiming
        self._copies = copies
        self._budget_bytes = budget_bytes

    @property
    def too_many(self) -> bool:
        """Whether ``trim`` has something to do."""
        return self._idle_bytes() > self._budget_bytes

    def trim(self) -> None:
        """Keep to the budget."""
        while self.too_many and self.free():
            pass

    def free(self) -> int:
        """Let one leave the device, for the host or for good; how many bytes that freed, or 0."""
        return next((freed for part in self._idle() if (freed := self._leave(part))), 0)

    def free_host(self) -> int:
        """Let one leave the host; how many bytes that freed, or 0."""
        for part in self._idle():
            freed = part.host_bytes
            if freed:
                part.away = None
                return freed
        return 0

    def _idle_bytes(self) -> int:
        there = (part for part in self._idle() if part.voice is not None or part.making is not None)
        return sum(part.device_bytes for part in there)

    def _leave(self, part: FlowPart) -> int:
        freed = part.device_bytes
        if not freed:
            return 0
        away = part.away if part.voice is None else self._copied(part.voice, part.key)
        with self._claiming:
            if part.users:  # since a moment ago
                return 0
            part.voice, part.making, part.away = None, None, away
        return freed

    def _copied(self, voice: FlowVoice, key: str) -> FlowVoice | None:
        """A copy on the host, in place of older ones if need be; None where there is no room."""
        size = len(voice.kept) * voice.page_bytes
        while voice.kept:
            try:
                with self._copies.copying(FLOW, TO_HOST, (key,), size):
                    return self._flow.to_host(voice)
            except OutOfHostMemory:
                if not self.free_host():
                    break
        return None


class VoicePrefixes:
    """The LLM's parts."""

    def __init__(
        self,
        flow: Flow,
        idle: Callable[[], Sequence[VoicePart]],
        budget_bytes: int,
        host_budget_bytes: int,
    ) -> None:
        """``idle`` and ``budget_bytes`` are as of the flow's parts; so is the host's budget."""
        self._flow = flow
        self._idle = idle
        self._budget_bytes = budget_bytes
        self._host_budget_bytes = host_budget_bytes

    @property
    def idle_bytes(self) -> int:
        """What could leave the device."""
        return sum(part.prefixes.device_bytes for part in self._idle())

    @property
    def too_many(self) -> bool:
        """Whether ``trim`` has something to do."""
        return self.idle_bytes > self._budget_bytes

    def trim(self) -> None:
        """Keep to the budget."""
        idle = self._idle()
        over = sum(part.prefixes.device_bytes for part in idle) - self._budget_bytes
        for part in idle:
            if over <= 0:
                break
            over -= part.prefixes.to_host(self._flow.host)
        self._trim_host(idle)

    def leave(self) -> None:
        """Let all leave the device."""
        idle = self._idle()
        for part in idle:
            part.prefixes.to_host(self._flow.host)
        self._trim_host(idle)

    def _trim_host(self, idle: Sequence[VoicePart]) -> None:
        over = sum(part.prefixes.host_bytes for part in idle) - self._host_budget_bytes
        for part in idle:
            if over <= 0:
                break
            over -= part.prefixes.clear_host()
