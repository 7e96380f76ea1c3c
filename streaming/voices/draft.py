"""What a user says of a voice to be made, and what of it can be taken.

Knows: names, transcripts, tags. Does not know: recordings, owners.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streaming.errors import InvalidValue
from streaming.text.speakable import has_words

NAME_CHARS = 100
TRANSCRIPT_CHARS = 1_000
CONSENT_CHARS = 1_000
LEAST_CHARS_PER_S = 1.0
MOST_CHARS_PER_S = 30.0
"""Nobody speaks faster or, with the pauses cut off, slower, in any script."""

_TAG = re.compile(r"auto|[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8}){0,3}")


@dataclass(frozen=True)
class VoiceDraft:
    """A voice but for its recording; see ``checked``."""

    name: str
    transcript: str
    consent: str
    language: str = "auto"


def checked(draft: VoiceDraft) -> VoiceDraft:
    """The draft without blanks around its texts.

    Raises:
        InvalidValue: the message names the field and what is allowed.
    """
    clean = VoiceDraft(
        name=draft.name.strip(),
        transcript=" ".join(draft.transcript.split()),
        consent=draft.consent.strip(),
        language=draft.language.strip() or "auto",
    )
    _require(
        0 < len(clean.name) <= NAME_CHARS and clean.name.isprintable(),
        f"name: 1 to {NAME_CHARS} characters that can be printed, for lists of voices",
    )
    _require(
        len(clean.transcript) <= TRANSCRIPT_CHARS and has_words(clean.transcript),
        f"transcript: what is said in the recording, word for word, in 1 to {TRANSCRIPT_CHARS} "
        "characters",
    )
    _require(
        0 < len(clean.consent) <= CONSENT_CHARS and "\0" not in clean.consent,
        "consent: whose voice it is and how they agreed to this use of it, in 1 to "
        f"{CONSENT_CHARS} characters",
    )
    _require(
        _TAG.fullmatch(clean.language) is not None,
        "language: a BCP 47 tag of what is spoken in the recording, such as en or zh, or auto",
    )
    return clean


def doubts(draft: VoiceDraft, duration_ms: int) -> tuple[str, ...]:
    """What makes it unlikely that the transcript is that of a recording so long."""
    chars_per_s = len(draft.transcript) * 1000 / max(1, duration_ms)
    if LEAST_CHARS_PER_S <= chars_per_s <= MOST_CHARS_PER_S:
        return ()
    doubt = (
        f"the transcript has {len(draft.transcript)} characters and the recording "
        f"{duration_ms / 1000:.1f} s: where they do not say the same, words are lost or made up"
    )
    return (doubt,)


def _require(good: bool, allowed: str) -> None:
    if not good:
        raise InvalidValue(allowed)
