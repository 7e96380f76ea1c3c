"""The other end of an engine's loop, in this process."""

from __future__ import annotations

import threading
from collections import deque


class Mailbox:
    """Hands the loop what a test puts in and keeps what it says; one that would sleep goes on."""

    def __init__(self):
        self.inbox = deque()
        self.sent = []
        self.rests = []
        """How long it would have slept, each time."""
        self.woken = threading.Event()

    def receive(self, timeout_s):
        self.rests.append(timeout_s)
        messages = list(self.inbox)
        self.inbox.clear()
        return messages

    def send(self, messages):
        self.sent += messages

    def wake(self):
        self.woken.set()
