"""The parent's end of one child process: messages out on its standard input, in on its output.

Knows: one process from its start to its end. Does not know: whether it is started again, or what
the messages mean.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar, cast

import msgspec
import structlog

from streaming.config import EngineSettings
from streaming.engine.wire import BatchReader, BrokenStream, encode_all
from streaming.messages import Message

T = TypeVar("T")

UNREAD_BYTES = 1 << 26
"""A child that leaves so much unread is not going to read it."""

LINE_BYTES = 1 << 16
"""Of a line on its standard error; the rest is logged as a line of its own."""

_ROOT = Path(__file__).resolve().parents[2]
# Signals to the server's group (Ctrl-C, a service manager's) are the server's to answer, so each
# child has a group of its own; Windows ignores the one way of saying so, the others the other.
_OWN_GROUP_ON_WINDOWS: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
_GRACE_S = 1.0
"""For a child to end by itself once its input is closed; then it is killed."""

_log = structlog.get_logger("streaming.engine")


class Child(asyncio.SubprocessProtocol, Generic[T]):
    """One process; ``on_gone`` is called once, when its output has ended."""

    def __init__(
        self,
        name: str,
        reader: BatchReader[T],
        on_messages: Callable[[list[T]], None],
        on_gone: Callable[[], None],
    ) -> None:
        self._name = name
        self._reader = reader
        self._on_messages = on_messages
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._outbox: list[Message] = []
        self._line = b""
        self._gone = False
        self._ended = self._loop.create_future()
        self._transport: asyncio.SubprocessTransport | None = None
        self._input: asyncio.WriteTransport | None = None

    @property
    def pid(self) -> int | None:
        """The process, once there is one."""
        return self._transport.get_pid() if self._transport else None

    @property
    def alive(self) -> bool:
        """Whether it runs, by the system's word: the event loop may not have heard of its end."""
        return self._transport is not None and not self._gone and not has_ended(self._transport)

    def send(self, message: Message) -> None:
        """Write it with all else of this turn of the event loop."""
        if not self._outbox:
            self._loop.call_soon(self._flush)
        self._outbox.append(message)

    def kill(self) -> None:
        """End it now; harmless where it has ended."""
        if self._transport is not None and self._transport.get_returncode() is None:
            self._transport.kill()

    async def close(self) -> None:
        """Let it end by itself, or end it; returns when it has, its descriptors closed."""
        self._gone = True
        if self._transport is None:
            return
        if self._input is not None:
            self._input.close()
        await asyncio.wait([self._ended], timeout=_GRACE_S)
        self.kill()
        await asyncio.wait([self._ended], timeout=_GRACE_S / 2)

    def _flush(self) -> None:
        if self._input is None:
            return  # it has not begun; what waits is written when it does
        messages, self._outbox = self._outbox, []
        if self._gone or self._input.is_closing():
            return
        for frame in encode_all(messages):
            self._input.write(frame)
        if self._input.get_write_buffer_size() > UNREAD_BYTES:
            _log.error("child_reads_nothing", child=self._name, pid=self.pid)
            self.kill()

    # --- what asyncio calls ----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._input = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self._flush()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Messages, or lines for the log."""
        if fd == 2:  # noqa: PLR2004 - standard error
            self._log_lines(data)
        elif not self._gone:
            self._receive(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """The end of its output is the end of it: all it said before has been read."""
        del exc
        if fd == 1:
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended and all its pipes with it."""
        del exc
        self._end()
        if self._line:
            self._log_line(self._line)
        if self._transport is not None:
            self._transport.close()
        if not self._ended.done():
            self._ended.set_result(None)

    def _end(self) -> None:
        if self._gone:
            return
        self._gone = True
        self.kill()
        self._on_gone()

    def _receive(self, data: bytes) -> None:
        try:
            messages = self._reader.feed(data)
        except BrokenStream as error:
            _log.error("child_talks_nonsense", child=self._name, pid=self.pid, error=str(error))
            self._end()
            return
        if messages:
            self._on_messages(messages)

    def _log_lines(self, data: bytes) -> None:
        *lines, self._line = (self._line + data).split(b"\n")
        if len(self._line) > LINE_BYTES:
            lines.append(self._line)
            self._line = b""
        for line in lines:
            self._log_line(line)

    def _log_line(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip()
        if not text:
            return
        try:
            fields = json.loads(text)
            event, level = fields.pop("event"), fields.pop("level")
        except (ValueError, AttributeError, KeyError, TypeError):  # a line of a library's
            _log.info("child_output", child=self._name, line=text)
            return
        getattr(_log, level)(event, child=self._name, **fields)


def has_ended(process: asyncio.SubprocessTransport) -> bool:
    """Whether the system knows of its end; whoever waits for that end still gets to know of it."""
    if process.get_returncode() is not None:
        return True
    if sys.platform == "win32":
        return process.get_extra_info("subprocess").poll() is not None
    if not hasattr(os, "waitid"):  # macOS before Python 3.13: the end of its output has to do
        return False
    try:
        ended = os.waitid(os.P_PID, process.get_pid(), os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # whoever waited for it knows already
        return True
    return ended is not None


async def spawn(child: Child[T], kind: str, settings: EngineSettings) -> None:
    """Start the process that ``child`` is the end of.

    Raises:
        OSError: the system would not.
    """
    await asyncio.get_running_loop().subprocess_exec(
        lambda: child,
        sys.executable,
        "-m",
        "streaming.engine",
        kind,
        msgspec.json.encode(settings).decode(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(settings),
        creationflags=_OWN_GROUP_ON_WINDOWS,
        start_new_session=True,
    )


def environment(settings: EngineSettings) -> dict[str, str]:
    """What a child finds in its environment: our modules, few threads, no hub unless allowed.

    onnxruntime of late keeps a device id in the user's cache and a queue of events to send to its
    maker; a server on somebody's own machine tells nobody anything.
    """
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    threads = str(settings.threads)
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "ORT_DISABLE_TELEMETRY": "1",
        **({} if settings.allow_downloads else {"HF_HUB_OFFLINE": "1"}),
    }
