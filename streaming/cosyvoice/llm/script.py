"""What a context feeds to the model and when it samples, for text that is there as a whole.

A script is pure: it hands out *pieces* and hears what was drawn. Where pieces begin and end depends
on the context alone, so what the model computes does not change with who shares its steps. Of a
whole text the piece after a draw is there as soon as that is launched, before it is heard.
Does not know: slots, tensors, other contexts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streaming.cosyvoice.llm.errors import BadIds, OutOfPositions
from streaming.cosyvoice.llm.ids import STOP, Ids
from streaming.cosyvoice.llm.sampler import MAY_STOP, drawn_at
from streaming.cosyvoice.sizes import END_OF_PROMPT, Generation

Codes = tuple[int, ...]


@dataclass(frozen=True)
class LlmPrompt:
    """What comes before the new text.

    Zero-shot: transcript and recording. Cross-lingual: neither (version 3: its opening words).
    Instruct: the instruction as ``text``, no ``speech``.
    """

    text: tuple[int, ...]
    """Text ids."""
    speech: tuple[int, ...] = ()
    """Speech tokens of the recording."""


@dataclass(frozen=True)
class Limits:
    """Speech tokens a text token, and positions a slot."""

    positions: int
    piece: int
    """A piece longer than this is fed in several steps."""
    least: int = 2
    most: int = 20


@dataclass(frozen=True)
class Piece:
    """Codes fed in one step, and whether a token is drawn after the last of them.

    A negative code stands for what an earlier step drew (``drawn_at``).
    """

    codes: Codes
    samples: bool = False
    flags: int = 0


class Script:
    """What both kinds share: a queue of pieces, and counts."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pieces: deque[Piece] = deque()
        self.made = 0
        """Sound tokens drawn."""
        self.steps = 0
        """Draws that were heard, forced ones too: places in the context's random numbers."""
        self.done = False
        self.cut_off = False
        """Whether it is done because the slot is full: more might have been said."""
        self.prefix: Codes = ()
        """What does not depend on the new text; the first pieces are exactly this."""

    @property
    def draws(self) -> int:
        """Those that were launched: the place of the next one."""
        return self.steps

    def launched(self, piece: Piece) -> None:
        """A piece is on its way; most scripts must hear what is drawn before they go on."""

    def heard(self, choice: int) -> None:
        """Go on after ``choice`` (a sound, stop or fill) was drawn."""
        raise NotImplementedError

    def skip_prefix(self) -> None:
        """The slot holds it already."""
        skipped = 0
        while skipped < len(self.prefix):
            skipped += len(self.pieces.popleft().codes)

    def _feed(self, codes: Codes, *, samples: bool = False, flags: int = 0) -> None:
        *before, last = _cut(codes, self.limits.piece)
        self.pieces.extend(Piece(part) for part in before)
        self.pieces.append(Piece(last, samples, flags))


class WholeText(Script):
    """``sos, prompt text, text, task, prompt speech``, then the tokens made so far."""

    def __init__(
        self,
        generation: Generation,
        ids: Ids,
        prompt: LlmPrompt,
        text: Sequence[int],
        limits: Limits,
    ) -> None:
        super().__init__(limits)
        check_prompt(generation, prompt)
        self.prefix = (ids.sos, *ids.text(prompt.text))
        self._feed(self.prefix)
        rest = (*ids.text(text), ids.task, *ids.speech(prompt.speech))
        room = limits.positions - len(self.prefix) - len(rest) + 1
        self._least = limits.least * len(text)
        self._most = min(limits.most * len(text), room)
        self._crowded = self._most < limits.most * len(text)
        if self._most < self._least:
            raise OutOfPositions(
                f"a prompt of {len(prompt.text)} text and {len(prompt.speech)} speech tokens and "
                f"{len(text)} new ones leave {max(room, 0)} of {limits.positions} positions for "
                f"speech: give less text at once, or a shorter prompt"
            )
        self._draws = 0
        self.done = self._most == 0
        if not self.done:
            self._feed(rest, samples=True, flags=self._flags())

    @property
    def draws(self) -> int:
        """Those that were launched: as many sounds, or the last is a stop."""
        return self._draws

    def launched(self, piece: Piece) -> None:
        """What is drawn is fed again, whatever it will be: of a stop nothing more is heard."""
        if not piece.samples:
            return
        self._draws += 1
        if self._draws < self._most:
            self._feed((drawn_at(self._draws - 1),), samples=True, flags=self._flags())

    def heard(self, choice: int) -> None:
        """Stop, or the limit, is the end."""
        self.steps += 1
        if choice == STOP:
            self.done = True
            return
        self.made += 1
        self.done = self.made >= self._most
        self.cut_off = self.done and self._crowded

    def _flags(self) -> int:
        return MAY_STOP if self._draws >= self._least else 0


def check_prompt(generation: Generation, prompt: LlmPrompt) -> None:
    """Raise ``BadIds`` for a version 3 prompt without ``<|endofprompt|>``."""
    if generation == "cosyvoice3" and END_OF_PROMPT not in prompt.text:
        raise BadIds(
            f"CosyVoice3 needs <|endofprompt|> (text id {END_OF_PROMPT}) in the prompt text, and "
            f"these {len(prompt.text)} ids have none"
        )


def _cut(codes: Codes, piece: int) -> Iterator[Codes]:
    for begin in range(0, len(codes), piece):
        yield codes[begin : begin + piece]
