"""A context's way to the engine while its voice is still being prepared.

Knows: order. Does not know: what is prepared, or what the messages mean.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from streaming.messages import Message


class Gate:
    """Keeps messages until it is opened, then lets them and all that follow through, in order."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._waiting: deque[Message] = deque()
        self._open = False

    def __call__(self, message: Message) -> None:
        """Send it, or keep it."""
        if self._open and not self._waiting:
            self._send(message)
        else:
            self._waiting.append(message)

    def open(self) -> None:
        """What was kept goes first."""
        self._open = True
        while self._waiting:
            self._send(self._waiting[0])
            self._waiting.popleft()
