"""The edges of a text before and after its words are made.

Knows: blanks, marks, full-width twins of letters and digits. Does not know: words.
"""

from __future__ import annotations

import re

from streaming.text.normal.aligned import Aligned
from streaming.text.speakable import WORD, lead

_TWINS: dict[int, int | str] = {code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B)} | {
    ord("％"): "%", ord("＋"): "+", ord("－"): "-", ord("＝"): "=", ord("＄"): "$", ord("￥"): "¥", ord("＠"): "@",
    ord("／"): "/", ord("＊"): "*", ord("＃"): "#", ord("＆"): "&", ord("＜"): "<", ord("＞"): ">", ord("　"): " ", ord("\u00a0"): " ", ord("\u202f"): " ", ord("\u2011"): "-", ord("\u2010"): "-", ord("\u2012"): "-",
}  # fmt: skip
_WIDE_MARKS = (ord("："), ord("；"), ord("？"))
for _code in _WIDE_MARKS:
    del _TWINS[_code]
_POINT = re.compile(r"(?<=\d)．(?=\d)")
_GROUPED = re.compile("(?<![０-９．])[０-９]{1,3}(?:，[０-９]{3})+(?![０-９])")
"""Full-width throughout: 100，200 with narrow digits is a list."""

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]+")
_BEFORE_MARK = re.compile(
    r" +(?=[,.!?;:，。！？；：、…)）\]」』”])|(?<=[，。！？；：、（“「『]) +|(?<=[(]) +"
)
_BETWEEN_HAN = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
_EMPTY = re.compile(r"\(\s*\)|（\s*）|\[\s*\]|【\s*】|“\s*”|(?<![\w,.!?;:])\"\s*\"(?!\w)|「\s*」")
_COMMAS = re.compile(r"([,，、;；:：])(?:\s*[,，、])+")
_COMMA_STOP = re.compile(r"\s*[,，、]+\s*(?=[.!?。！？])")
_STOP_COMMA = re.compile(r"(?<=[!?。！？])\s*[,，、]+|(?<=[a-z]{3}\.)\s*,+")
_FIRST = re.compile(r"\A[\s,，、;；:：)）\]】|]+")
_LAST = re.compile(r"\s+\Z|(?<=[^\s,，、])\s*[、]\s*\Z")


def silent_lead(source: str) -> int:
    """How many characters stand before the first that is spoken, as the segmenter has it."""
    found = WORD.search(source)
    return len(source) if found is None else lead(source, found.start(), 0)


def even_widths(aligned: Aligned) -> None:
    """Full-width letters, digits and signs as their narrow twins, one for one."""
    if aligned.text.isascii():
        return
    aligned.sub(_GROUPED, lambda found: found.group().replace("，", ","))
    aligned.translate(_TWINS)
    aligned.sub(_POINT, ".")


def tidy(aligned: Aligned) -> None:
    """Fold blanks, and leave no mark that stands where nothing is left to be parted."""
    aligned.sub(_BLANKS, lambda found: None if found.group() == " " else " ")
    aligned.sub(_EMPTY, "")
    aligned.sub(_BEFORE_MARK, "")
    aligned.sub(_COMMAS, lambda found: found[1])
    aligned.sub(_COMMA_STOP, "")
    aligned.sub(_STOP_COMMA, "")
    aligned.sub(_BLANKS, lambda found: None if found.group() == " " else " ")
    aligned.sub(_FIRST, "")
    aligned.sub(_LAST, "")
