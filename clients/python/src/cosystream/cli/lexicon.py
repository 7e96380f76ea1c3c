"""How words are spoken, as it is given on the command line: a file of entries, single words.

Knows: the file's two forms, and how ``WORD=WORDS`` joins either. Does not know: what is allowed in
them, which the server says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cosystream.cli.usage import Usage
from cosystream.options import Lexicon


def read_lexicon(path: str | None, said: Sequence[str]) -> Lexicon | None:
    """The file's entries, then those of ``said``, which win; None without any. Raises Usage."""
    words = dict(_pair(each) for each in said)
    if path is None:
        return words or None
    lexicon = _from_file(path)
    if isinstance(lexicon, dict):
        return {**lexicon, "replace": [*lexicon.get("replace", ()), words]}
    return [*lexicon, *({"text": text, "say": say} for text, say in words.items())]


def _pair(said: str) -> tuple[str, str]:
    word, equals, words = said.partition("=")
    if not (word.strip() and equals and words.strip()):
        raise Usage(f"--say-as {said}: write WORD=WORDS, as in --say-as GIF=jif")
    return word.strip(), words.strip()


def _from_file(path: str) -> Any:
    try:
        lexicon = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as wrong:
        raise Usage(f"cannot read {path} ({wrong.strerror})") from wrong
    except ValueError as wrong:
        raise Usage(f"--lexicon {path}: not JSON ({wrong})") from wrong
    if isinstance(lexicon, dict) and all(isinstance(say, str) for say in lexicon.values()):
        return [{"text": text, "say": say} for text, say in lexicon.items()]
    if isinstance(lexicon, dict) and isinstance(lexicon.get("replace", []), list):
        return lexicon
    if isinstance(lexicon, list):
        return lexicon
    raise Usage(f"--lexicon {path}: neither a list of entries nor an object of words")
