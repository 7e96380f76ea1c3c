"""Scripts driven by hand: what they feed, when they draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from streaming.cosyvoice.llm.ids import ids_of
from streaming.cosyvoice.llm.sampler import drawn_at
from streaming.cosyvoice.llm.script import Limits, Piece, Script
from streaming.cosyvoice.sizes import LlmSizes

IDS = {generation: ids_of(LlmSizes(generation)) for generation in ("cosyvoice2", "cosyvoice3")}
LIMITS = Limits(positions=2_000, piece=256)

Answer = Callable[[Piece], int]


def sounds() -> Answer:
    """Answers 1000, 1001, 1002 ... whatever is asked."""
    numbers: Iterator[int] = count(1000)
    return lambda _: next(numbers)


class Feed:
    """Codes in the order they were fed, drawn ones as what was drawn, and draws after which."""

    def __init__(self, script: Script, answer: Answer) -> None:
        self.script = script
        self.codes: list[int] = []
        self.draws: list[int] = []
        """How many codes had been fed at each draw."""
        self.pieces: list[Piece] = []
        self._answer = answer
        self._drawn: dict[int, int] = {}

    def run(self, draws: int = 10_000) -> Feed:
        """Go on until nothing can be fed, or so many more tokens were drawn."""
        until = len(self.draws) + draws
        while self.script.pieces and not self.script.done and len(self.draws) < until:
            self._step()
        return self

    def _step(self) -> None:
        piece = self.script.pieces.popleft()
        self.pieces.append(piece)
        self.codes += [self._drawn.get(code, code) for code in piece.codes]
        step = self.script.draws
        self.script.launched(piece)
        if piece.samples:
            self.draws.append(len(self.codes))
            choice = self._drawn[drawn_at(step)] = self._answer(piece)
            self.script.heard(choice)
