"""East Asian marks within English text, as their Latin twins.

Knows: marks. Does not know: words.
"""

from __future__ import annotations

import re

from streaming.text.normal.aligned import Aligned

_TWINS = {
    "。": ".", "，": ",", "、": ",", "！": "!", "？": "?", "；": ";", "：": ":", "（": "(", "）": ")",
    "“": '"', "”": '"', "「": '"', "」": '"', "『": '"', "』": '"', "【": "(", "】": ")", "《": '"', "》": '"', "～": "~", "．": ".", "｡": ".",
}  # fmt: skip
_MARKS = "。，、！？；：｡．"
_WIDE = re.compile(f"[{''.join(_TWINS)}]")
_JOINED = re.compile(rf"[{_MARKS}](?=[A-Za-z0-9])")


def english_marks(aligned: Aligned) -> None:
    """Put a Latin mark for each; a blank follows it where a word did."""
    if aligned.text.isascii():
        return
    aligned.sub(_JOINED, lambda found: f"{_TWINS[found.group()]} ")
    aligned.sub(_WIDE, lambda found: _TWINS[found.group()])
