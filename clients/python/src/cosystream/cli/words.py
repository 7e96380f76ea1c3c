"""The words and when each is heard, in a file: for captions.

Knows: the file's form, a JSON object a line. Does not know: where the times come from.
"""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path

from cosystream.cli.usage import Usage
from cosystream.events import Words


class WordsFile:
    """Opened at once, so that a name that cannot be written is told before anything is spoken."""

    def __init__(self, path: str, stack: AsyncExitStack) -> None:
        try:
            self._file = stack.enter_context(Path(path).open("w", encoding="utf-8"))  # noqa: SIM115 - the stack closes it
        except OSError as wrong:
            raise Usage(f"cannot write {path} ({wrong.strerror})") from wrong

    def write(self, words: Words) -> None:
        """A line a word."""
        for word in words.items:
            line = json.dumps({**asdict(word), "source": words.source}, ensure_ascii=False)
            print(line, file=self._file, flush=True)
