"""A connection that tests hold in their hands: it stalls, drains and is lost when told to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class FakeLink:
    """As ``server.outbox.Link``; what was written is kept as it came."""

    on_writable: Callable[[bool], None] | None = None
    can_write: bool = True
    buffered_bytes: int = 0
    written: list[bytes] = field(default_factory=list)
    texts: list[dict[str, Any]] = field(default_factory=list)
    binaries: list[bytes] = field(default_factory=list)
    closed: tuple[int, str] | None = None
    aborted: tuple[int, str] | None = None

    def write_text(self, data: bytes) -> None:
        self.written.append(data)
        self.texts.append(json.loads(data))

    def write_binary(self, data: bytes) -> None:
        self.written.append(data)
        self.binaries.append(data)

    def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)

    def abort(self, code: int, reason: str) -> None:
        self.aborted = (code, reason)

    def stall(self, buffered_bytes: int) -> None:
        """The peer stops taking data while so much waits for it."""
        self.can_write, self.buffered_bytes = False, buffered_bytes
        assert self.on_writable is not None
        self.on_writable(False)

    def drain(self) -> None:
        """The peer takes data again."""
        self.can_write, self.buffered_bytes = True, 0
        assert self.on_writable is not None
        self.on_writable(True)
