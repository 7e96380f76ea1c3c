"""What was spoken, as a speech recogniser that is not ours hears it, and how far that is off."""

from __future__ import annotations

import re

from streaming.cosyvoice.verify.edits import edits
from streaming.cosyvoice.verify.listening import RATE, model_folder, transcribe

__all__ = ["RATE", "model_folder", "normalise", "transcribe", "word_error_rate", "word_errors"]

_WRITTEN_OUT = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
    "dr": "doctor",
    "mr": "mister",
    "mrs": "missus",
    "ok": "okay",
}


def word_errors(reference: str, heard: str) -> tuple[int, int]:
    """Words substituted, dropped or put in, and how many words the reference has."""
    wanted, got = normalise(reference), normalise(heard)
    return edits(wanted, got), len(wanted)


def word_error_rate(reference: str, heard: str) -> float:
    """The share of the reference's words that was heard wrongly; 0.0 is perfect."""
    wrong, words = word_errors(reference, heard)
    return wrong / words if words else float(wrong > 0)


def normalise(text: str) -> list[str]:
    """Words alike however they are written: no case, no punctuation, small numbers as digits."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text.lower())  # 1,250 is one number
    text = re.sub(r"\$(\d+)", r"\1 dollars", text).replace("%", " percent ")
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", text)  # March 21st and March 21
    return [_WRITTEN_OUT.get(word, word) for word in re.findall(r"\d+|[a-z]+(?:'[a-z]+)?", text)]
