"""Text that is still arriving: five text tokens, fifteen speech tokens, and so on.

The prompt's text and speech are interleaved the same way before the new text's. The model asks for
text with a fill; when the text has ended, what is left of it (less than five), then the sign
``task`` and decoding to the end. Text is taken five by five however it came, and the end of it only
matters for what cannot be five any more, so the tokens do not depend on when the text came.

Where the official loop goes wrong this one does not: what is left of the prompt's speech when the
text ends is fed after ``task`` (not dropped); version 3 without prompt speech is given its first
five text tokens before it speaks; the ending has limits; nothing but sound, fill and stop is drawn.
Does not know: slots, tensors, time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Literal

from streaming.cosyvoice.llm.errors import OutOfPositions
from streaming.cosyvoice.llm.ids import FILL, STOP, Ids
from streaming.cosyvoice.llm.sampler import AFTER_FILL, MAY_END, MAY_FILL
from streaming.cosyvoice.llm.script import Codes, Limits, LlmPrompt, Piece, Script, check_prompt
from streaming.cosyvoice.sizes import END_OF_PROMPT, Generation
from streaming.errors import BadState

TEXT_GROUP, SPEECH_GROUP = 5, 15
"""The official ``mix_ratio``."""

Phase = Literal["prompt", "asking", "speaking", "ending"]


class StreamedText(Script):
    """A script whose text is appended while it runs."""

    def __init__(
        self,
        generation: Generation,
        ids: Ids,
        prompt: LlmPrompt,
        text: Sequence[int],
        limits: Limits,
    ) -> None:
        super().__init__(limits)
        self._ids = ids
        opening, rest = _opening(generation, prompt)
        self._text = deque(ids.text(rest))
        self._speech = deque(ids.speech(prompt.speech))
        self._phase: Phase = "prompt" if self._speech else "asking"
        self._left = SPEECH_GROUP - len(self._speech) % SPEECH_GROUP
        self._carry: Codes = ()
        """Fed together with what comes next: a draw needs the last code's own output."""
        self._last: Codes = ()
        self._after_fill = 0
        self._given = 0
        self._ended = False
        self._unheard = False
        """Whether a draw is under way: what comes next depends on it."""
        self._fixed = 1 + len(prompt.text) + len(prompt.speech)
        self._used = 0
        self._feed((ids.sos, *ids.text(opening)))
        self._interleave_prompt()
        self.prefix = tuple(code for piece in self.pieces for code in piece.codes)
        self.append(text)

    def append(self, text: Iterable[int]) -> None:
        """More text ids. ``OutOfPositions`` where it could not be spoken: nothing is taken then."""
        codes = self._ids.text(text)
        if self._ended:
            raise BadState("text was appended after it had ended")
        groups = (self._given + len(codes)) // TEXT_GROUP + 1
        need = self._fixed + groups * (TEXT_GROUP + SPEECH_GROUP) + 2
        if need > self.limits.positions:
            raise OutOfPositions(
                f"{self._given} text tokens were given and {len(codes)} more would need {need} of "
                f"{self.limits.positions} positions: end this segment and begin another"
            )
        self._given += len(codes)
        self._text.extend(codes)
        self._plan()

    def end(self) -> None:
        """No more text will come."""
        self._ended = True
        self._plan()

    def launched(self, piece: Piece) -> None:
        """After a draw nothing is planned before it is heard."""
        self._unheard = piece.samples

    def heard(self, choice: int) -> None:
        """Count a sound; after a fill, or fifteen, ask for text; after stop, be done."""
        self._unheard = False
        self.steps += 1
        if choice == STOP:
            self.done = True
        elif choice == FILL:
            self._phase = "asking"
        else:
            self._sounded(choice)
        self._plan()

    def _sounded(self, token: int) -> None:
        self.made += 1
        self._carry = self._last = (token,)
        if self._phase == "ending":
            return
        self._left -= 1
        if self._left == 0:  # the fill is certain, so it is not computed; it counts as a draw
            self.steps += 1
            self._after_fill = AFTER_FILL
            self._phase = "asking"

    def _plan(self) -> None:
        """Queue whatever can be fed now; where that is nothing, the context waits."""
        if self.done or self._unheard or any(piece.samples for piece in self.pieces):
            return
        if self._phase == "prompt":
            self._interleave_prompt()
        if self._phase in {"prompt", "asking"}:
            self._ask()
        if self._phase in {"speaking", "ending"}:
            self._speak()

    def _interleave_prompt(self) -> None:
        while self._speech and len(self._text) >= TEXT_GROUP:
            speech = _take(self._speech, SPEECH_GROUP)
            codes = self._carry + _take(self._text, TEXT_GROUP) + speech
            self._carry = ()
            if not self._speech:
                codes, self._carry = codes[:-1], codes[-1:]
                self._phase = "speaking"
            self._feed(codes)

    def _ask(self) -> None:
        if self._phase == "asking" and len(self._text) >= TEXT_GROUP:
            self._carry += _take(self._text, TEXT_GROUP)
            self._phase, self._left = "speaking", SPEECH_GROUP
        elif self._ended:
            # The official loop feeds the last token before a fill once more here, and the models
            # have only ever been run so.
            rest = _take(self._text, len(self._text))
            self._carry += (*self._last, *rest, self._ids.task, *self._speech)
            self._speech.clear()
            self._phase = "ending"

    def _speak(self) -> None:
        if self._used + len(self._carry) > self.limits.positions:
            self.done = self.cut_off = True
            return
        if self.made >= self.limits.most * self._given:
            self.done = self._ended
            return
        if self._phase == "speaking":
            flags = MAY_FILL
        else:
            flags = MAY_END if self.made >= self.limits.least * self._given else 0
        self._feed(self._carry, samples=True, flags=flags | self._after_fill)
        self._carry, self._after_fill = (), 0

    def _feed(self, codes: Codes, *, samples: bool = False, flags: int = 0) -> None:
        super()._feed(codes, samples=samples, flags=flags)
        self._used += len(codes)


def _opening(generation: Generation, prompt: LlmPrompt) -> tuple[Codes, Codes]:
    """Version 3's prompt up to ``<|endofprompt|>`` stands outside the interleaving."""
    if generation == "cosyvoice2":
        return (), prompt.text
    check_prompt(generation, prompt)
    after = prompt.text.index(END_OF_PROMPT) + 1
    return prompt.text[:after], prompt.text[after:]


def _take(queue: deque[int], count: int) -> Codes:
    return tuple(queue.popleft() for _ in range(min(count, len(queue))))
