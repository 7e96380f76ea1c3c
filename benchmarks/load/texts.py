"""What is spoken: four texts of set lengths, and how a language model would write them.

Everything is the same in every run: a session's number and a context's decide the text.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

TOKEN_INTERVAL_S = 0.05
"""20 deltas a second, a usual pace of a hosted language model."""

CHARS_PER_SECOND = 15.0
"""About how fast English is spoken; only for choosing a rate of arrivals."""

TEXTS = {
    "word": "All right, then.",
    "sentence": "The next ferry to the island leaves at half past nine, from the second pier.",
    "pair": (
        "Thank you for calling, your parcel has reached our depot this morning. "
        "It will be with you by Thursday at noon, and the driver rings before he comes."
    ),
    "paragraph": (
        "Welcome back to the evening show, it is good to see so many of you here tonight. "
        "We start with the weather, which has been kind to the coast and hard on the hills. "
        "Rain is on its way from the west, and it should arrive a little before midnight. "
        "After that we talk to a baker who gets up at three, and to the people who buy his bread. "
        "Stay with us, there is music at the end, and a question that nobody has answered yet."
    ),
}

_ORDER = ("sentence", "pair", "word", "paragraph")


def text_for(session: int, context: int) -> str:
    """The text of a session's ``context``-th context; sessions begin at different ones."""
    return TEXTS[_ORDER[(session + context) % len(_ORDER)]]


def deltas(text: str, seed: int) -> Iterator[str]:
    """``text`` in pieces of 1 to 5 characters."""
    lengths = random.Random(seed)  # noqa: S311 - the same pieces in every run, no secret
    start = 0
    while start < len(text):
        stop = start + lengths.randint(1, 5)
        yield text[start:stop]
        start = stop


def mean_speech_s() -> float:
    """About how long one context speaks."""
    return sum(map(len, TEXTS.values())) / len(TEXTS) / CHARS_PER_SECOND
