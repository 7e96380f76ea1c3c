"""What is spoken, and what must not be heard: the texts that stand before it in the model.

The sentences share no three words with what is hidden before them, and no character of the Chinese
ones is written otherwise where a recogniser prefers the traditional ones. Each is long enough, next
to its voice's transcript, to be spoken as the recording's continuation.
Knows: texts. Does not know: how they are spoken or heard.
"""

from __future__ import annotations

from dataclasses import dataclass

from streaming.cosyvoice.prompt.texts import SYSTEM
from streaming.cosyvoice.sizes import Generation
from streaming.segment import Segment
from streaming.voices.starters import starters


@dataclass(frozen=True)
class Hidden:
    """A text that the model reads and must not say."""

    what: str
    text: str


@dataclass(frozen=True)
class Sentence:
    """One trial."""

    name: str
    """For a file's name."""
    title: str
    text: str
    language: str
    voice: str
    longest_s: float
    """A model that has not come to an end by then never does."""
    instruct: str | None = None

    @property
    def segment(self) -> Segment:
        """As the engine takes it."""
        return Segment(
            index=0,
            text=self.text,
            source=self.text,
            char_start=0,
            char_end=len(self.text),
            ending="end",
            language=self.language,
        )

    def hidden(self, generation: Generation) -> tuple[Hidden, ...]:
        """All that stands before the text, or might."""
        transcript = next(
            each.transcript for each in starters() if f"starter-{each.id}" == self.voice
        )
        found = [Hidden("the transcript of the voice's recording", transcript)]
        if self.instruct:
            found.append(Hidden("the instruction", self.instruct))
        if generation == "cosyvoice3":
            found.append(Hidden("the sentence that version 3 begins with", SYSTEM))
        return tuple(found)


SENTENCES = (
    Sentence(
        name="1-english",
        title="English",
        text="Every morning the old fisherman walked down to the river, and his daughter watched "
        "the boats come home before breakfast.",
        language="en",
        voice="starter-english",
        longest_s=20.0,
    ),
    Sentence(
        name="2-mandarin",
        title="Mandarin",
        text="明天早上，我想和朋友去山上看日出。",  # noqa: RUF001 - Chinese commas are meant
        language="zh",
        voice="starter-mandarin",
        longest_s=12.0,
    ),
    Sentence(
        name="3-instructed",
        title="Mandarin with an instruction",
        text="太好了，今天晚上大家一起去看大海。",  # noqa: RUF001 - Chinese commas are meant
        language="zh",
        voice="starter-mandarin",
        longest_s=12.0,
        instruct="请非常开心地说一句话。",
    ),
)
