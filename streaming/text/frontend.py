"""Many contexts' text, each with its segmenter: messages in, messages out.

Knows: which context is whose. Does not know: pipes, processes, clocks.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Collection

from streaming.config import TextSettings
from streaming.messages import (
    Failed,
    FromText,
    TextAppend,
    TextDrop,
    TextEnd,
    TextEnded,
    TextFlush,
    TextFlushed,
    TextOpen,
    TextSegments,
    ToText,
)
from streaming.segment import LexiconEntry, Segment
from streaming.text.normal.lexicon import layered
from streaming.text.normal.normaliser import Normaliser
from streaming.text.parts import Parts
from streaming.text.pipeline import TextPipeline
from streaming.text.reasoning import ReasoningFilter
from streaming.text.segmenter import Segmenter

_log = logging.getLogger(__name__)


class FrontEnd:
    """The text side of every context that a front-end process has."""

    def __init__(self, settings: TextSettings) -> None:
        self._settings = settings
        self._server_lexicon = tuple(line for line in settings.lexicon if not line.voice)
        self._texts: dict[int, TextPipeline | Parts] = {}
        self._due_s: dict[int, float] = {}
        self._queue: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._texts)

    def handle(self, message: ToText, now_s: float) -> list[FromText]:
        """Do what the message says; one for a context that is gone says nothing."""
        try:
            return self._handle(message, now_s)
        except Exception as error:  # noqa: BLE001  one context's fault must not end the others'
            return [self._fail(message.ctx, error)]

    def due_s(self) -> float | None:
        """When ``tick`` is to be called, if no message comes before."""
        while self._queue:
            due_s, ctx = self._queue[0]
            if self._due_s.get(ctx) == due_s:
                return due_s
            heapq.heappop(self._queue)
        return None

    def tick(self, now_s: float, telling: Collection[int] = ()) -> list[FromText]:
        """What is let go because its time has come.

        Not of contexts of which more is there to be handled: they wait for nothing.
        """
        out: list[FromText] = []
        while (due_s := self.due_s()) is not None and due_s <= now_s:
            _, ctx = heapq.heappop(self._queue)
            del self._due_s[ctx]
            if ctx in telling:  # its next message says when anew
                continue
            try:
                out += self._segments(ctx, self._texts[ctx].tick(now_s))
                self._schedule(ctx)
            except Exception as error:  # noqa: BLE001  as in ``handle``
                out.append(self._fail(ctx, error))
        return out

    def _handle(self, message: ToText, now_s: float) -> list[FromText]:
        ctx = message.ctx
        if isinstance(message, TextOpen):
            self._texts[ctx] = self._open(message)
            return []
        text = self._texts.get(ctx)
        if text is None:
            return []
        match message:
            case TextAppend(delta=delta):
                out = self._segments(ctx, text.append(delta, now_s))
            case TextFlush(flush_id=flush_id):
                out = self._segments(ctx, text.flush(now_s))
                out.append(TextFlushed(ctx=ctx, flush_id=flush_id))
            case TextEnd():
                out = self._segments(ctx, text.end(now_s))
                out.append(TextEnded(ctx=ctx, segments=text.count))
                self._drop(ctx)
                return out
            case TextDrop():
                self._drop(ctx)
                return []
        self._schedule(ctx)
        return out

    def _open(self, message: TextOpen) -> TextPipeline | Parts:
        lexicon = layered(self._server_lexicon, self._lexicon_of(message.voice), message.lexicon)
        interleaved = message.text_mode == "interleaved"
        longest = min(message.max_segment_chars, self._settings.max_segment_chars)
        segmenter = Segmenter(
            language=message.language,
            text_mode=message.text_mode,
            max_segment_chars=longest,
            min_segment_chars=0 if interleaved else message.min_segment_chars,
            first_segment_min_chars=self._settings.first_segment_min_chars,
            idle_release_ms=self._settings.idle_release_ms,
            max_delay_ms=message.max_delay_ms,
            between_words=not lexicon.has_phrases,
        )
        normaliser = Normaliser(message.voice_languages, lexicon, message.language, message.marks)
        drop = message.reasoning == "drop"
        text = TextPipeline(segmenter, normaliser, ReasoningFilter() if drop else None)
        return Parts(text, longest, message.max_delay_ms) if interleaved else text

    def _lexicon_of(self, voice: str) -> tuple[LexiconEntry, ...]:
        return tuple(line for line in self._settings.lexicon if line.voice and line.voice == voice)

    @staticmethod
    def _segments(ctx: int, segments: list[Segment]) -> list[FromText]:
        return [TextSegments(ctx=ctx, segments=tuple(segments))] if segments else []

    def _schedule(self, ctx: int) -> None:
        due_s = self._texts[ctx].due_s()
        if due_s is None:
            self._due_s.pop(ctx, None)
        elif self._due_s.get(ctx) != due_s:
            self._due_s[ctx] = due_s
            heapq.heappush(self._queue, (due_s, ctx))

    def _drop(self, ctx: int) -> None:
        self._texts.pop(ctx, None)
        self._due_s.pop(ctx, None)

    def _fail(self, ctx: int, error: Exception) -> Failed:
        _log.error("text of context %d failed", ctx, exc_info=error)
        self._drop(ctx)
        return Failed(
            ctx=ctx, code="internal", message="the text could not be cut; the server's log says why"
        )
