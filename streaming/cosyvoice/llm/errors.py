"""What can go wrong with one context of the language model; the others go on.

Knows: codes of ``streaming.errors``. Does not know: who is told.
"""

from __future__ import annotations

from streaming.errors import InvalidValue, Overloaded, SynthesisFailed, TextTooLong


class OutOfSlots(Overloaded):
    """Every slot is taken: release one, or ask for more when the decoder is made."""


class OutOfPositions(TextTooLong):
    """Prompt, text and the speech that may come of it do not fit in a slot."""


class BadIds(InvalidValue):
    """Ids that the vocabulary does not have, or that the generation's format forbids."""


class BadTokens(SynthesisFailed):
    """A row's logits were not finite, or its token out of range; the message names the seed."""
