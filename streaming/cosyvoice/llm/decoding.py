"""One segment being decoded: its slot, its script, its place in the random numbers.

Does not know: tensors, other contexts.
"""

from __future__ import annotations

from streaming.cosyvoice.llm.errors import BadTokens
from streaming.cosyvoice.llm.ids import FILL, STOP
from streaming.cosyvoice.llm.randomness import key_of
from streaming.cosyvoice.llm.script import Piece, Script
from streaming.cosyvoice.llm.silence import Silences
from streaming.cosyvoice.sizes import SPEECH_TOKENS


class Decoding:
    """Made by ``Decoder.begin``; given to ``step`` and, at the end, to ``release``."""

    def __init__(
        self, slot: int, script: Script, silences: Silences, *, seed: int, segment: int
    ) -> None:
        self.slot = slot
        self.script = script
        self.seed = seed
        self.segment = segment
        self.key = key_of(seed, segment)
        self.fed = 0
        """Positions of the slot in use."""
        self.tokens: list[int] = []
        """Sound tokens so far, long silences shortened."""
        self.failure: BadTokens | None = None
        self.released = False
        self._silences = silences

    @property
    def done(self) -> bool:
        """No step will make anything more of it."""
        return self.script.done or self.failure is not None or self.released

    @property
    def wants(self) -> bool:
        """A step would advance it; false while it waits for text, and when it is done."""
        return not self.done and bool(self.script.pieces)

    @property
    def piece(self) -> Piece:
        """What its next step feeds."""
        return self.script.pieces[0]

    def fed_piece(self) -> None:
        """The device has it, or will."""
        piece = self.script.pieces.popleft()
        self.fed += len(piece.codes)
        self.script.launched(piece)

    def heard(self, choice: int) -> list[int]:
        """Take a drawn choice: the sound tokens it adds, none or one. Raises ``BadTokens``."""
        if not 0 <= choice <= FILL:
            self.failure = BadTokens(
                f"the language model gave no usable token at draw {self.script.steps} of segment "
                f"{self.segment} with seed {self.seed} (choice {choice})"
            )
            raise self.failure
        self.script.heard(choice)
        if choice in {STOP, FILL} or not self._silences.keeps(choice):
            return []
        assert choice < SPEECH_TOKENS
        self.tokens.append(choice)
        return [choice]
