"""Marks that are for the eye or for a model: taken away from a whole segment.

Knows: Markdown, tables, HTML tags, control tokens of speech and chat models. Does not know: words.
Names keep their underscores and products their stars: a mark of emphasis has text on its inner
side and none, or no letter, on its outer one.
"""

from __future__ import annotations

import re

from streaming.text.normal.aligned import Aligned

CONTROL = re.compile(
    r"<\|[^|<>\n]{0,60}\|>"
    r"|<(?:s|/s|bos|eos|pad|unk|sos|PAD|EOS|BOS)>"
    r"|\[/?(?:INST|SYS|laughter|laugh|breath|quick_breath|noise|cough|clucking|accent|"
    r"lipsmack|sigh|vocalized-noise|hissing|mn|pause|uv_break|uv_pause|lbreak|oral_\d|break_\d|"
    r"laugh_\d|speed_\d|S\d)\]",
    re.IGNORECASE,
)
"""Tokens that a model would obey: ``<|endofprompt|>``, ``[laughter]``."""

_BREAK_TAG = re.compile(
    r"<(?:br|hr|p|li|tr|td|th|div)\b[^<>]{0,200}>|</(?:summary|h[1-6]|option|title|caption|dt)>",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"<(script|style)\b[^<>]{0,200}>.{0,4000}?</\1\s?>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(
    r"</?[A-Za-z][A-Za-z0-9:-]{0,30}(?:\s[^<>=]{0,60}=[^<>]{0,200})?\s?/?>|<!--.{0,200}?-->",
    re.DOTALL,
)
SILENT = re.compile(f"{CONTROL.pattern}|{_TAG.pattern}", re.IGNORECASE | re.DOTALL)
"""What is never a word, also where a voice obeys it."""
_ENTITY = re.compile("&(amp|lt|gt|quot|apos|nbsp|#39);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'", "#39": "'", "nbsp": " "}

_FENCE = re.compile(r"\A\s*(?:```+|~~~+)[ \t]*[\w+#.-]{0,20}[ \t]*(?=\n|\Z)|```+")
_HEADING = re.compile(r"(?:^|(?<=\n))[ \t]*#{1,6}[ \t]+|[ \t]+#{1,6}[ \t]*$", re.MULTILINE)
_QUOTE = re.compile(r"(?:^|(?<=\n))[ \t]*(?:>[ \t]?)+(?!\d)", re.MULTILINE)
_BULLET = re.compile(r"(?:^|(?<=\n))[ \t]*[*+•·▪◦‣●○■□◆◇★☆►▶✓✔✗✘-][ \t]+", re.MULTILINE)
_TASK = re.compile(r"(?:^|(?<=\n))[ \t]*\[[ xX]\][ \t]+", re.MULTILINE)
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,200})\]\(([^()\n]{0,300}(?:\([^()\n]*\)[^()\n]*)?)\)")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((?:[^()\n]{0,300}(?:\([^()\n]*\)[^()\n]*)?)\)")
_NOTE = re.compile(r"\[\^[\w-]{1,20}\]")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)?[^<>\s]{3,200}[.@][^<>\s]{2,200})>")
_TABLE_RULE = re.compile(r"(?:^|(?<=\n))[ \t|:+-]*-{2,}[ \t|:+-]*$", re.MULTILINE)
_CODE = re.compile(r"(`{1,2})(?=\S)([^`\n]{1,300}?)(?<=\S)\1(?!`)")
_STRONG = re.compile(r"(?<![*\d])\*{2,3}(?!\*)|(?<=\d)\*{2,3}(?![*\d])")
_STARS = re.compile(r"(?<![\d\s*])\*{4,}(?!\s?\d)|(?<!\d)(?<!\d\s)(?<!\*)\*{4,}(?![*\d]|\s[\d*])")
"""A row of stars that masks no number."""
_MARKED = re.compile(r"==(?=[^\s=])([^=\n]{1,200}?)(?<=[^\s=])==(?![=\w])")
_KEYS = re.compile(
    r"(?<=[按拨键入以和或])[*＊](?=[号键]|[，。,.！!]|\Z|重|返|结)|(?<=[Pp]ress )\*(?![\w*])|(?<=[Tt]he )\*(?= key)|(?<=\bor )\*(?=[ ,.])"
)
"""The star key of a telephone, which is said."""
_CITED = re.compile(
    r"(?:(?<=[a-z]{3})|(?<=[.,!?。！？）)”\"\u4e00-\u9fff]))(?:\[[1-9]\d{0,2}(?:[-,–]\d{1,3})*\])+(?![(=`\w]|\s=)"
)
"""A footnote's number, which touches what it is about: silent, as ``[^1]`` is."""
_UNDER_STRONG = re.compile(r"(?<![\w])_{2,3}(?=[^\s_])|(?<=[^\s_])_{2,3}(?![\w])")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*\d])([^*\n]{1,300}?)(?<=[^\s*])\*(?![\w*])")
_LONE_STAR = re.compile(r"(?<![\d\s)）*])\*(?![\d*])|(?<![\d)）*])\*(?![\d\s*(（])")
_UNDER = re.compile(r"(?<![\w])_(?=[^\s_])([^_\n]{1,300}?)(?<=[^\s_])_(?![\w])")
_STRIKE = re.compile(r"~~(?=\S)([^~\n]{1,300}?)(?<=\S)~~")
_TICKS = re.compile("`+")
_STRAY_HASHES = re.compile(r"#{2,}(?=\s|[^\w#]|$)|(?<![\w&])#{2,}")


def strip_control(aligned: Aligned) -> None:
    """Take control tokens and tags away; entities become what they stand for."""
    aligned.sub(CONTROL, _gap)
    aligned.sub(_AUTOLINK, lambda found: found[1].removeprefix("mailto:"))
    aligned.sub(_SCRIPT, "")
    aligned.sub(_BREAK_TAG, ", ")
    aligned.sub(_TAG, "")
    aligned.sub(_ENTITY, lambda found: _ENTITIES[found[1]])


def _gap(found: re.Match[str]) -> str:
    """A blank where the token stood between words that blanks part."""
    around = found.string[: found.start()][-1:] + found.string[found.end() :][:1]
    return " " if len(around) > 1 and around.isascii() and not around.isspace() else ""


def strip_markdown(aligned: Aligned) -> None:
    """Take Markdown away; links keep their words, tables their cells."""
    aligned.sub(_KEYS, lambda found: "星号" if _after_han(found) else "star")
    for pattern in (_CITED, _FENCE, _TABLE_RULE, _QUOTE, _HEADING, _BULLET, _TASK, _NOTE):
        aligned.sub(pattern, "")
    _unwrap(aligned, _IMAGE)
    _unwrap(aligned, _LINK)
    _cells(aligned)
    _unwrap(aligned, _CODE, group=2)
    aligned.sub(_STRONG, "")
    aligned.sub(_STARS, "")
    aligned.sub(_UNDER_STRONG, "")
    for pattern in (_EMPHASIS, _UNDER, _STRIKE, _MARKED):
        _unwrap(aligned, pattern)
    for pattern in (_LONE_STAR, _TICKS, _STRAY_HASHES):
        aligned.sub(pattern, "")


def _after_han(found: re.Match[str]) -> bool:
    return found.string[found.start() - 1] > "\u2e80"


def _unwrap(aligned: Aligned, pattern: re.Pattern[str], group: int = 1) -> None:
    """Leave what is inside, character by character."""
    for found in reversed(list(pattern.finditer(aligned.text))):
        aligned.drop(found.end(group), found.end())
        aligned.drop(found.start(), found.start(group))


_ROW = re.compile(r"(?:^|(?<=\n))[ \t]*\|.*|.*\|[ \t]*$", re.MULTILINE)
_PARTED = re.compile(r"\S[ \t]+\|[ \t]+\S")
_EDGE = re.compile(r"(?:^|(?<=\n))[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$", re.MULTILINE)
_BAR = re.compile(r"[ \t]*(?<!\|)\|(?!\|)[ \t]*")


def _cells(aligned: Aligned) -> None:
    """A table's row is read as its cells with a short pause between."""
    if "|" not in aligned.text:
        return
    if _ROW.search(aligned.text) or _PARTED.search(aligned.text):
        aligned.sub(_EDGE, "")
        aligned.sub(_BAR, ", ")
