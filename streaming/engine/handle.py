"""One context as its owner in the server holds it.

Knows: which message each verb becomes, and when nothing more may be said. Does not know: processes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from streaming.errors import ContextEnded
from streaming.messages import (
    Cancel,
    ContextEvent,
    End,
    Failed,
    Finished,
    FromText,
    Message,
    Park,
    PlaceMark,
    Played,
    Speak,
    StartIn,
    TextAppend,
    TextDrop,
    TextEnd,
    TextEnded,
    TextFlush,
    TextFlushed,
    TextSegments,
    Unpark,
)

Sink = Callable[[ContextEvent], None]

_log = structlog.get_logger("streaming.engine")


@dataclass(frozen=True)
class Lines:
    """A context's ways out: to its front end, to the engine, and off the books."""

    to_text: Callable[[Message], None]
    to_engine: Callable[[Message], None]
    release: Callable[[int, bool], None]
    """Also told whether the engine still has to let go of it."""
    let_go: Callable[[int], None]
    """Called when whoever listens has heard all of it, or will hear no more."""
    worker: int
    """Which front end has its text."""


class EngineContext:
    """A context's verbs; all do nothing once it has finished, failed or been cancelled.

    One that has finished still has its listener's place, until its owner cancels it.
    """

    def __init__(self, ctx: int, sink: Sink, lines: Lines) -> None:
        self.ctx = ctx
        self._sink = sink
        self._lines = lines
        self._ended = False
        self._active = True
        self._text_done = False
        self._cancelled = False

    @property
    def active(self) -> bool:
        """Whether anything may still be said of it."""
        return self._active

    def append(self, delta: str) -> None:
        """More text; raises ``ContextEnded`` after ``end``."""
        if self._active and delta:
            self._require_open()
            self._lines.to_text(TextAppend(ctx=self.ctx, delta=delta))

    def flush(self, flush_id: str) -> None:
        """Speak what has come so far; then comes a ``Mark``. Raises ContextEnded after ``end``."""
        if self._active:
            self._require_open()
            self._lines.to_text(TextFlush(ctx=self.ctx, flush_id=flush_id))

    def end(self) -> None:
        """No more text; raises ``ContextEnded`` the second time."""
        if self._active:
            self._require_open()
            self._ended = True
            self._lines.to_text(TextEnd(ctx=self.ctx))

    def cancel(self) -> None:
        """Stop, and give up the listener's place; the sink is never called again."""
        if self._active:
            self._stop()
            self._leave()
        elif not self._cancelled:
            self._cancelled = True
            self._lines.let_go(self.ctx)

    def park(self) -> None:
        """Launch nothing for it until ``unpark``."""
        self._tell(Park(ctx=self.ctx))

    def unpark(self) -> None:
        """Its listener is back."""
        self._tell(Unpark(ctx=self.ctx))

    def played(self, samples: int) -> None:
        """The listener has had so much of it, at 24 kHz."""
        self._tell(Played(ctx=self.ctx, samples=samples))

    def start_in(self, delay_ms: int) -> None:
        """Its turn to be heard comes in so long."""
        self._tell(StartIn(ctx=self.ctx, ms=delay_ms))

    # --- what the client calls -------------------------------------------------------------

    def lost_text(self, worker: int, failed: Failed) -> None:
        """That front end is gone; a context whose text has all been let go does not need it."""
        if self._lines.worker == worker and not self._text_done:
            self._stop()
            self.deliver(failed)

    def take_text(self, message: FromText) -> None:
        """What its front end said becomes work for the engine."""
        match message:
            case TextSegments(ctx=ctx, segments=segments):
                for segment in segments:
                    self._lines.to_engine(Speak(ctx=ctx, segment=segment))
            case TextFlushed(ctx=ctx, flush_id=flush_id):
                self._lines.to_engine(PlaceMark(ctx=ctx, mark=flush_id))
            case TextEnded(ctx=ctx):
                self._text_done = True
                self._lines.to_engine(End(ctx=ctx))
            case Failed():
                self._stop()
                self.deliver(message)

    def deliver(self, event: ContextEvent) -> None:
        """Tell the owner."""
        if not self._active:
            return
        if isinstance(event, Finished | Failed):
            self._leave()
        try:
            self._sink(event)
        except Exception:  # noqa: BLE001 - an owner's fault ends its own context, not the others'
            _log.exception("sink_failed", ctx=self.ctx)
            self.cancel()

    def _leave(self) -> None:
        self._active = False
        if not self._text_done:
            self._lines.to_text(TextDrop(ctx=self.ctx))
        self._lines.release(self.ctx, self._cancelled)

    def _stop(self) -> None:
        self._cancelled = True
        self._lines.to_engine(Cancel(ctx=self.ctx))

    def _tell(self, message: Message) -> None:
        if self._active:
            self._lines.to_engine(message)

    def _require_open(self) -> None:
        if self._ended:
            raise ContextEnded("the context has ended and takes no more text")
