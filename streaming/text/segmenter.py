"""Text that is still arriving becomes segments, each let go once and never changed.

Knows: when to let go (text modes, limits). Does not know: clocks (times are handed in), what a mark
means (``boundaries.py``), how long text waits for more (``waiting.py``), how a segment will be read
out.
"""

from __future__ import annotations

import msgspec

from streaming.segment import Segment, TextMode
from streaming.text.arrivals import Arrivals
from streaming.text.boundaries import judge
from streaming.text.breaks import ZWJ, Break, Place, best_break, plain_break
from streaming.text.pending import Pending
from streaming.text.speakable import guess_language, spoken_text
from streaming.text.verdict import Rank, Verdict
from streaming.text.waiting import idle_wait_s, overdue_break


class Segmenter:
    """One context's text. Every method but ``due_s`` gives the segments let go by it, in order."""

    def __init__(
        self,
        *,
        language: str = "auto",
        text_mode: TextMode = "auto",
        max_segment_chars: int = 200,
        min_segment_chars: int = 0,
        first_segment_min_chars: int = 40,
        idle_release_ms: int = 300,
        max_delay_ms: int | None = None,
        between_words: bool = True,
    ) -> None:
        """``between_words``: whether interleaved text may be cut there too."""
        self._language = "" if language == "auto" else language
        self._seen_language = ""
        self._mode = text_mode
        self._between_words = between_words
        self._limit = max_segment_chars
        self._least = min(min_segment_chars, max_segment_chars)
        self._short: tuple[int, Verdict] | None = None
        """Too short to be spoken alone: a sentence that waits for the next, and the buffer's
        ``base`` when it was judged."""
        self._first_min = first_segment_min_chars
        self._idle_s = idle_release_ms / 1000
        self._max_delay_s = None if max_delay_ms is None else max_delay_ms / 1000
        self._pending = Pending()
        self._arrivals = Arrivals()
        self._held: list[str] = []
        """In ``manual`` mode: all text since the last flush."""
        self._undecided = False
        """Whether looking stopped at a mark that only more text can decide."""
        self._first = True
        self._count = 0
        self._last_s = 0.0

    @property
    def count(self) -> int:
        """How many segments have been let go."""
        return self._count

    @property
    def rest(self) -> str:
        """What is pending; after ``end`` that holds no word."""
        return self._pending.rest()

    def append(self, delta: str, now_s: float) -> list[Segment]:
        """More text, of any length."""
        if not delta:
            return []
        self._last_s = now_s
        if self._mode == "manual":
            self._held.append(delta)
            return []
        self._pending.append(delta)
        if self._max_delay_s is not None:
            self._arrivals.add(self._pending.base + len(self._pending), now_s)
        return self._work()

    def flush(self, now_s: float) -> list[Segment]:
        """Let go of all that has words; what follows begins as the context began."""
        self._last_s = now_s
        out = self._release_all()
        self._first = True
        return out

    def end(self, now_s: float) -> list[Segment]:
        """The text is complete: the rest, its last segment taking the wordless tail along."""
        out = self.flush(now_s)
        if out:
            tail = self._pending.rest()
            last = out[-1]
            out[-1] = msgspec.structs.replace(
                last,
                source=last.source + tail,
                char_end=last.char_end + len(tail),
                ending="end",
            )
        return out

    def due_s(self) -> float | None:
        """When ``tick`` is to be called, if nothing else comes before."""
        due = [moment for moment in (self._idle_due_s(), self._delay_due_s()) if moment is not None]
        return min(due, default=None)

    def tick(self, now_s: float) -> list[Segment]:
        """Let go of what has waited long enough."""
        out: list[Segment] = []
        while (due_s := self._idle_due_s()) is not None and due_s <= now_s:
            self._release_idle(out)
            out += self._work()
        while (due_s := self._delay_due_s()) is not None and due_s <= now_s:
            out += self._release_overdue(now_s)
        return out

    def _release_idle(self, out: list[Segment]) -> None:
        """Let go of the sentence that looks finished, else of short ones that wait for more."""
        verdict = self._finished()
        if verdict is not None:
            self._apply(verdict, out, final=True)
        elif self._short is not None:
            base, short = self._short
            gone = self._pending.base - base
            self._let_go(Break(short.end - gone, short.ending), short.resume - gone, out)

    # --- looking at text -------------------------------------------------------------------

    def _work(self, *, final: bool = False) -> list[Segment]:
        """Decide all that can be decided."""
        pending, out = self._pending, list[Segment]()
        while True:
            mark, found = pending.next_mark(self._limit)
            unit = self._unit()
            over = pending.advance(unit.end if unit else mark, self._limit)
            if over is not None:
                self._force(over, out)
            elif unit:
                self._let_go(unit, unit.end, out)
            elif found:
                verdict = self._judge(mark, final=final)
                if verdict is None:
                    break
                self._apply(verdict, out)
            elif mark == len(pending):
                break
        self._undecided = found
        pending.trim()
        return out

    def _unit(self) -> Break | None:
        """What of a sentence can be let go for a model that takes text in its midst."""
        if self._mode != "interleaved":
            return None
        pending = self._pending
        return plain_break(
            pending.text, pending.start, self._limit, between_words=self._between_words
        )

    def _judge(self, mark: int, *, final: bool) -> Verdict | None:
        pending = self._pending
        quoted = pending.quoted_at(mark)
        return judge(pending.text, mark, start=pending.start, quoted=quoted, final=final)

    def _apply(self, verdict: Verdict | None, out: list[Segment], *, final: bool = False) -> None:
        assert verdict is not None, "only a decided mark is applied"
        pending = self._pending
        over = pending.advance(verdict.end, self._limit)
        if over is not None:
            self._force(over, out)
        elif verdict.rank is Rank.STOP and not final and self._is_short(verdict):
            self._short = (pending.base, verdict)
            pending.places.append(Place(verdict.end, Rank.CLAUSE))
            pending.scan = max(pending.scan, verdict.resume)
        elif verdict.rank is Rank.STOP or self._is_first_clause(verdict):
            self._let_go(Break(verdict.end, verdict.ending), verdict.resume, out)
        elif verdict.rank and pending.begin is not None:
            pending.places.append(Place(verdict.end, verdict.rank))

    def _is_short(self, verdict: Verdict) -> bool:
        """Whether the sentence is to be spoken together with the one after it.

        The first of a context is not, as someone waits for it; a paragraph's last neither.
        """
        if self._first or verdict.ending == "paragraph" or self._pending.begin is None:
            return False
        return self._pending.width_to(verdict.end) < self._least

    def _is_first_clause(self, verdict: Verdict) -> bool:
        early = self._mode == "auto" and self._first and verdict.rank is Rank.CLAUSE
        return early and self._pending.width_to(verdict.end) >= self._first_min

    def _force(self, limit: int, out: list[Segment]) -> None:
        """The sentence is too long: cut it at its best place before ``limit``."""
        pending = self._pending
        limit = max(limit, pending.word + 1)
        cut = best_break(pending.text, pending.word, limit, pending.places)
        self._let_go(cut, cut.end, out)

    # --- letting go ------------------------------------------------------------------------

    def _let_go(self, cut: Break, resume: int, out: list[Segment]) -> None:
        pending = self._pending
        self._short = None
        if not pending.speakable(cut.end):
            pending.skip(resume)
            return
        piece = pending.cut(cut.end)
        text = spoken_text(piece.spoken)
        segment = Segment(
            index=self._count,
            text=text,
            source=piece.source,
            char_start=piece.char_start,
            char_end=piece.char_end,
            ending=cut.ending,
            language=self._language_of(text),
        )
        self._count += 1
        self._first = False
        out.append(segment)

    def _language_of(self, text: str) -> str:
        """Guessed; kana once seen make a context without a language of its own Japanese."""
        guess = guess_language(text, self._language, self._seen_language)
        if self._seen_language != "ja":
            self._seen_language = guess
        return guess

    def _release_all(self) -> list[Segment]:
        if self._held:
            self._pending.append("".join(self._held))
            self._held.clear()
        out = self._work(final=True)
        self._let_go(Break(len(self._pending), "clause"), len(self._pending), out)
        self._pending.trim()
        return out

    # --- waiting ---------------------------------------------------------------------------

    def _idle_due_s(self) -> float | None:
        """When the sentence that looks finished is taken to be so."""
        verdict = self._finished()
        if verdict is None:
            return None if self._short is None else self._last_s + self._idle_s
        return self._last_s + idle_wait_s(self._pending, verdict, self._idle_s)

    def _finished(self) -> Verdict | None:
        """The stop that the text ends with, if nothing came behind it; None where it has none."""
        pending = self._pending
        if not self._undecided or pending.begin is None or pending.text.endswith(ZWJ):
            return None
        verdict = self._judge(pending.scan, final=True)
        if verdict is None or verdict.rank is not Rank.STOP or not pending.speakable(verdict.end):
            return None
        return verdict

    def _delay_due_s(self) -> float | None:
        pending = self._pending
        if self._max_delay_s is None or not pending.speakable(len(pending)):
            return None
        assert pending.begin is not None, "what is speakable begins somewhere"
        came_s = self._arrivals.oldest_s(pending.base + pending.begin)
        return None if came_s is None else came_s + self._max_delay_s

    def _release_overdue(self, now_s: float) -> list[Segment]:
        """Let go of all that has waited ``max_delay_ms``, and of a little more to end well."""
        assert self._max_delay_s is not None, "only a context with a limit has overdue text"
        pending = self._pending
        overdue = self._arrivals.end_by(now_s - self._max_delay_s) - pending.base
        cut = overdue_break(pending, overdue)
        if cut is None or not pending.speakable(cut.end):
            return self._release_all()
        out: list[Segment] = []
        self._let_go(cut, cut.end, out)
        return out + self._work()
