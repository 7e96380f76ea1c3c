"""A child process's end of its pipes: messages in on standard input, out on standard output.

A thread reads, so that a cancel is in the inbox while a step runs; a thread writes whatever waits
in one go. When the parent is gone the process ends on the spot: it has nobody to speak for.
Knows: file descriptors and threads. Does not know: what the messages mean.
"""

from __future__ import annotations

import os
import queue
import stat
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from streaming.engine.notes import note_error
from streaming.engine.wire import BatchReader, BrokenStream, encode_all
from streaming.messages import Message

T = TypeVar("T")

READ_BYTES = 1 << 18
PIPE_BYTES = 1 << 20
"""Where the system lets a pipe grow, so that a busy parent does not stop a step's publication."""

OUTBOX_BATCHES = 64
"""Batches that may wait for a parent that reads slowly; then the loop waits with them."""


class Channel(Generic[T]):
    """``receive`` and ``send`` over this process's standard streams, which are its alone."""

    def __init__(self, reader: BatchReader[T], read_fd: int, write_fd: int) -> None:
        self._reader = reader
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._inbox: queue.SimpleQueue[list[T]] = queue.SimpleQueue()
        self._outbox: queue.Queue[Sequence[Message]] = queue.Queue(OUTBOX_BATCHES)
        for target in (self._read, self._write):
            threading.Thread(target=target, name=target.__name__, daemon=True).start()

    def receive(self, timeout_s: float | None) -> list[T]:
        """Everything that has come; where nothing has, wait up to ``timeout_s`` (0: do not)."""
        try:
            first = self._inbox.get(timeout_s != 0, timeout_s)
        except queue.Empty:
            return []
        return first + [message for batch in self._waiting() for message in batch]

    def wake(self) -> None:
        """Let ``receive`` return, from another thread."""
        self._inbox.put([])

    def send(self, messages: Sequence[Message]) -> None:
        """Hand messages to the writer; waits while the parent is far behind."""
        if messages:
            self._outbox.put(messages)

    def drain(self) -> None:
        """Return when all that was sent has been written."""
        self._outbox.join()

    def _waiting(self) -> Iterator[list[T]]:
        while not self._inbox.empty():
            yield self._inbox.get()

    def _read(self) -> None:
        try:
            while data := os.read(self._read_fd, READ_BYTES):
                if messages := self._reader.feed(data):
                    self._inbox.put(messages)
        except BrokenStream as error:
            note_error("broken_stream", error)
            os._exit(1)
        except OSError:  # how Windows says that the parent is gone
            os._exit(0)
        os._exit(0)

    def _write(self) -> None:
        try:
            while True:
                self._write_batch(self._outbox.get())
        except OSError:  # the parent is gone, and with it everyone who could be told
            os._exit(0)

    def _write_batch(self, messages: Sequence[Message]) -> None:
        batch = list(messages)
        taken = 1
        while not self._outbox.empty():
            batch += self._outbox.get()
            taken += 1
        for frame in encode_all(batch):
            _write_whole(self._write_fd, frame)
        for _ in range(taken):
            self._outbox.task_done()


def take_standard_streams() -> tuple[int, int]:
    """Private descriptors of this process's pipes; a library's ``print`` then goes to the log."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    for fd in (read_fd, write_fd):
        _enlarge(fd)
    return read_fd, write_fd


def _enlarge(fd: int) -> None:
    if sys.platform != "linux" or not stat.S_ISFIFO(os.fstat(fd).st_mode):
        return
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    except PermissionError:
        # The user's share of pipe memory is used up: the pipe works, smaller.
        return


def _write_whole(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
