"""Text to the ids that the LLM reads: Qwen2's byte-level BPE, with CosyVoice's special tokens.

Built from ``vocab.json`` and ``merges.txt`` alone. Special tokens have their published ids however
small the vocabulary is, so a checkpoint with a vocabulary of a few hundred entries works too.
Knows: Qwen2's rule for cutting text, special tokens. Does not know: prompts, languages, what a
text means.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

from tokenizers import AddedToken, Encoding, Regex, Tokenizer, models, normalizers, pre_tokenizers

from streaming.cosyvoice.folder_errors import DamagedFile
from streaming.cosyvoice.sizes import Generation
from streaming.cosyvoice.special_tokens import FIRST, special_tokens

_PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"  # English contractions
    r"|[^\r\n\p{L}\p{N}]?\p{L}+"  # a word, with the space or sign before it
    r"|\p{N}"  # a digit alone
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*"  # signs, with the line ends after them
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"  # space: line ends, then all but the one before a word
)
"""What BPE never joins across; Qwen2's rule."""


class TextTokenizer:
    """Encodes text for one generation. Safe to share between threads."""

    def __init__(self, vocab: Path, merges: Path, generation: Generation) -> None:
        """Read the vocabulary.

        Raises:
            DamagedFile: a file of it cannot be read, or they do not fit together.
        """
        entries = _read_vocab(vocab)
        self.special = special_tokens(generation)
        self._tokenizer = Tokenizer(models.BPE(vocab=entries, merges=_read_merges(merges, entries)))
        self._tokenizer.normalizer = normalizers.NFC()
        self._tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(_PIECES), behavior="isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        self._tokenizer.add_special_tokens(
            [AddedToken(name, normalized=False, special=True) for name in self.special]
        )
        self._control = re.compile(
            "|".join(re.escape(name) for name in self.special if name.startswith("<|"))
        )
        self._begun = {name[:end] for name in self.special for end in range(1, len(name))}
        self._longest_begun = max(map(len, self._begun))
        own = {self._tokenizer.token_to_id(name): number for name, number in self.special.items()}
        self._published = {inner: number for inner, number in own.items() if inner != number}

    def encode(self, text: str, *, control: bool = True) -> list[int]:
        """The ids of a text.

        Without ``control``, what looks like ``<|endofprompt|>`` is spelled out like other text:
        a user's words must not end the prompt. Marks like ``[laughter]`` count either way.
        """
        parts = [text] if control else self.without_control(text)
        return [number for part in parts for number in self.published(self.encoding(part).ids)]

    def encoding(self, text: str) -> Encoding:
        """The encoding itself, with each token's place in the text; its ids are not published."""
        return self._tokenizer.encode(text, add_special_tokens=False)

    def published(self, ids: list[int]) -> list[int]:
        """The ids that the weights know for those of an ``encoding``."""
        return [self._published.get(number, number) for number in ids]

    def without_control(self, text: str) -> list[str]:
        """The text cut inside each control token, so that in no part there is one; never empty."""
        cuts = [0, *(match.start() + 1 for match in self._control.finditer(text)), len(text)]
        return [text[begin:end] for begin, end in itertools.pairwise(cuts)]

    def special_begun(self, text: str) -> int:
        """How many characters at the end of the text may be the beginning of a special token."""
        lengths = range(min(len(text), self._longest_begun), 0, -1)
        return next((length for length in lengths if text[-length:] in self._begun), 0)


def _read_vocab(path: Path) -> dict[str, int]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DamagedFile(f"{path} is no JSON: {error}. Download it again") from error
    if not isinstance(found, dict) or not all(type(number) is int for number in found.values()):
        raise DamagedFile(f"{path} is no vocabulary: tokens with their ids. Download it again")
    highest = max(found.values(), default=0)
    if highest >= FIRST:
        raise DamagedFile(
            f"{path} has the id {highest:,}; Qwen2's vocabulary ends before {FIRST:,}, where "
            "CosyVoice's own tokens begin. Take the published file"
        )
    return found


def _read_merges(path: Path, vocab: dict[str, int]) -> list[tuple[str, str]]:
    merges: list[tuple[str, str]] = []
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        first, _, second = line.rstrip("\r").partition(" ")
        if any(token not in vocab for token in (first, second, first + second)):
            raise DamagedFile(
                f"{path}, line {number}: {line[:40]!r} joins what is not in vocab.json beside it. "
                "Download both again"
            )
        merges.append((first, second))
    return merges
