"""What was heard against what was meant, and the verdict over all sentences.

Knows: words, and how many may be wrong. Does not know: models, recognisers, terminals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum

from streaming.cosyvoice.verify.edits import edits
from streaming.cosyvoice.verify.sentences import Hidden
from streaming.text.normal.simplified import TABLE

UNDERSTOOD = 0.25
"""This share of a sentence may be heard wrongly: a small recogniser makes mistakes too."""

NOISE = 0.2
"""Where less of a sentence is found than this, and nothing else that was given, it is noise."""

READ_ALOUD = 3
"""So many words, or characters of Chinese, in a row of a hidden text are not heard by chance."""

_ITEM = re.compile(r"[㐀-鿿]|[^\W㐀-鿿]+(?:'[^\W㐀-鿿]+)*")


class Verdict(Enum):
    """What all of it comes to; the command's exit status."""

    GOOD = 0
    BAD = 1
    UNHEARD = 3


@dataclass(frozen=True)
class Heard:
    """One sentence in the ears of a recogniser."""

    words: str
    wrong: int
    """Words, or characters of Chinese, substituted, dropped or put in."""
    of: int
    unit: str
    found: int
    """How many of the sentence's own were heard, in order, whatever else was heard."""
    read_aloud: tuple[tuple[str, str], ...]
    """Hidden texts that were heard: which, and the words."""

    @property
    def share(self) -> float:
        """Which share of the sentence was heard wrongly."""
        return self.wrong / self.of


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; ``good`` is None where it could not be."""

    what: str
    good: bool | None
    detail: str = ""


@dataclass(frozen=True)
class Trial:
    """What became of one sentence, for the verdict."""

    title: str
    fault: str
    """Why there is nothing good to hear; empty where there may be."""
    heard: Heard | None


def judge(text: str, words: str, hidden: Sequence[Hidden]) -> Heard:
    """``words`` were heard where ``text`` was meant."""
    wanted, got = items(text), items(words)
    unit = "characters" if all(len(item) == 1 for item in wanted) else "words"
    runs = [(each.what, _longest_run(items(each.text), got)) for each in hidden]
    read_aloud = tuple((what, run) for what, run in runs if run)
    blocks = SequenceMatcher(None, wanted, got, autojunk=False).get_matching_blocks()
    found = sum(block.size for block in blocks)
    return Heard(words, edits(wanted, got), len(wanted), unit, found, read_aloud)


def checks(trials: Sequence[Trial]) -> list[Check]:
    """Each sentence, then what must not be heard."""
    return [*map(_understood, trials), *_hidden(trials)]


def is_noise(trials: Sequence[Trial]) -> bool:
    """Whether nothing that was given to the model was heard."""
    heard = [trial.heard for trial in trials if trial.heard is not None]
    return bool(heard) and all(
        each.found < NOISE * each.of and not each.read_aloud for each in heard
    )


def verdict(found: Sequence[Check]) -> Verdict:
    """Good where all is; what could not be told is not good."""
    if any(check.good is False for check in found):
        return Verdict.BAD
    if any(check.good is None for check in found):
        return Verdict.UNHEARD
    return Verdict.GOOD


def items(text: str) -> list[str]:
    """Words and, of Chinese, characters; no case, no marks, simplified."""
    return _ITEM.findall(text.translate(TABLE).lower().replace("’", "'"))  # noqa: RUF001 - both are written


def _understood(trial: Trial) -> Check:
    what = f"{trial.title} is understood"
    if trial.fault:
        return Check(what, good=False, detail=trial.fault)
    if trial.heard is None:
        return Check(what, good=None, detail="nobody listened")
    detail = f"{trial.heard.wrong} of {trial.heard.of} {trial.heard.unit} wrong"
    return Check(what, good=trial.heard.share <= UNDERSTOOD, detail=detail)


def _hidden(trials: Sequence[Trial]) -> list[Check]:
    what = "neither the recording's transcript nor the instruction is read aloud"
    for trial in trials:
        if trial.heard is not None and trial.heard.read_aloud:
            which, words = trial.heard.read_aloud[0]
            return [Check(what, good=False, detail=f"{trial.title}: {which}, “{words}”")]
    if any(trial.heard is None for trial in trials):
        return [Check(what, good=None, detail="nobody listened")]
    if is_noise(trials):
        return [Check(what, good=None, detail="noise does not tell")]
    return [Check(what, good=True)]


def _longest_run(hidden: list[str], got: list[str]) -> str:
    """What was heard of the hidden text in one go; empty where that is little."""
    match = SequenceMatcher(None, hidden, got, autojunk=False).find_longest_match()
    if match.size < min(READ_ALOUD, len(hidden)):
        return ""
    run = hidden[match.a : match.a + match.size]
    return ("" if all(len(item) == 1 for item in run) else " ").join(run)
