"""One context's text on its way: reasoning out, cut into segments, made into words.

Knows: the order of the three, and how their pieces keep adding up to the client's text. Does not
know: how any of them works. Segments that hold nothing to speak once they are words are carried
along in the source of the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec

from streaming.segment import Segment
from streaming.text.normal.normaliser import Normaliser, Removed
from streaming.text.reasoning import Passed, ReasoningFilter
from streaming.text.segmenter import Segmenter
from streaming.text.speakable import has_words

TAG_WAIT_S = 0.5
"""What may be the beginning of a tag waits so long for the rest of it."""


class _Edit(msgspec.Struct, frozen=True):
    """At ``position`` of what went on, ``text`` stands for the client's ``source``."""

    position: int
    source: str
    text: str


class TextPipeline:
    """As a ``Segmenter``, with all that comes before and after it."""

    def __init__(
        self, segmenter: Segmenter, normaliser: Normaliser, reasoning: ReasoningFilter | None = None
    ) -> None:
        self._segmenter = segmenter
        self._normaliser = normaliser
        self._reasoning = reasoning
        self._edits: deque[_Edit] = deque()
        self._reached = 0
        self._carried = ""
        self._passed = 0
        self._count = 0
        self._last_s = 0.0

    @property
    def count(self) -> int:
        """How many segments have been let go."""
        return self._count

    def append(self, delta: str, now_s: float) -> list[Segment]:
        """More text, of any length."""
        self._last_s = now_s
        if self._reasoning is None:
            self._passed += len(delta)
            return self._made(self._segmenter.append(delta, now_s))
        return self._pass_on(self._reasoning.append(delta), now_s)

    def flush(self, now_s: float) -> list[Segment]:
        """Let go of all that has words; what follows begins as the context began."""
        out = self._release(now_s)
        return out + self._made(self._segmenter.flush(now_s))

    def end(self, now_s: float) -> list[Segment]:
        """The text is complete: the rest, its last segment taking the silent tail along."""
        out = self._release(now_s)
        segments = self._segmenter.end(now_s)
        out += self._made(segments)
        if out:
            tail = self._tail("" if segments else self._segmenter.rest)
            last = out[-1]
            out[-1] = msgspec.structs.replace(
                last, source=last.source + tail, char_end=last.char_end + len(tail), ending="end"
            )
        return out

    def due_s(self) -> float | None:
        """When ``tick`` is to be called, if nothing else comes before."""
        waits = self._reasoning is not None and self._reasoning.waits
        due = [self._last_s + TAG_WAIT_S if waits else None, self._segmenter.due_s()]
        return min((moment for moment in due if moment is not None), default=None)

    def tick(self, now_s: float) -> list[Segment]:
        """Let go of what has waited long enough."""
        out: list[Segment] = []
        if self._reasoning is not None and self._reasoning.waits:
            out += self._release(now_s) if self._last_s + TAG_WAIT_S <= now_s else []
        return out + self._made(self._segmenter.tick(now_s))

    # --- the way in ------------------------------------------------------------------------

    def _release(self, now_s: float) -> list[Segment]:
        return [] if self._reasoning is None else self._pass_on(self._reasoning.release(), now_s)

    def _pass_on(self, passed: list[Passed], now_s: float) -> list[Segment]:
        out: list[Segment] = []
        for source, text in passed:
            if source != text:
                self._edits.append(_Edit(self._passed, source, text))
            self._passed += len(text)
            out += self._made(self._segmenter.append(text, now_s))
        return out

    # --- the way out -----------------------------------------------------------------------

    def _made(self, segments: Sequence[Segment]) -> list[Segment]:
        return [made for segment in segments if (made := self._make(segment)) is not None]

    def _make(self, segment: Segment) -> Segment | None:
        """The segment in words; None where there are none, its source is carried along then."""
        source, removed = self._restored(segment.source, segment.char_start)
        whole = msgspec.structs.replace(
            segment,
            index=self._count,
            source=source,
            char_start=self._reached,
            char_end=self._reached + len(source),
        )
        made = self._normaliser.speak(whole, removed)
        if not has_words(made.text):
            self._carried = source
            return None
        self._carried = ""
        self._reached = made.char_end
        self._count += 1
        return made

    def _restored(self, text: str, begin: int) -> tuple[str, list[Removed]]:
        """The client's own text for what the segmenter gave, and what of it is not to be spoken."""
        parts = [self._carried]
        length = len(self._carried)
        removed = [Removed(0, length, "")] if length else []
        end, at = begin + len(text), begin
        while self._edits and self._edits[0].position < end:
            edit = self._edits.popleft()
            kept = text[at - begin : edit.position - begin]
            parts += [kept, edit.source]
            length += len(kept)
            removed.append(Removed(length, length + len(edit.source), edit.text))
            length += len(edit.source)
            at = edit.position + len(edit.text)
        return "".join([*parts, text[at - begin :]]), removed

    def _tail(self, rest: str) -> str:
        """All that was never let go, as the client wrote it."""
        source, _ = self._restored(rest, self._passed - len(rest))
        return source + "".join(edit.source for edit in self._edits)
