"""A small vocabulary in Qwen2's file format: every byte, and some joins of English and Chinese.

Any text can be written with it, and its tokens are really joined from bytes, so what depends on
byte-level BPE is met in tests. Knows: the two files. Does not know: special tokens.
"""

from __future__ import annotations

import json
from pathlib import Path

_WORDS = (
    "the", " the", " a", " and", " to", " of", "ing", "er", "an", "on", " you", "ll", "'ll",
    "  ", "\n\n", "...", "hello", "Hello", "你", "好", "你好", "的", "。", "é",
)  # fmt: skip


def _printable_bytes() -> dict[int, str]:
    """GPT-2's spelling of bytes: those that print stand for themselves, others come from 256 on."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    return {byte: chr(byte) for byte in own} | {
        byte: chr(256 + place) for place, byte in enumerate(others)
    }


def vocabulary() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The entries with their ids, and the merges in order of precedence."""
    spelled = _printable_bytes()
    entries = {spelled[byte]: place for place, byte in enumerate(sorted(spelled))}
    merges: list[tuple[str, str]] = []
    for word in _WORDS:
        letters = [spelled[byte] for byte in word.encode()]
        whole = letters[0]
        for letter in letters[1:]:
            if whole + letter not in entries:
                entries[whole + letter] = len(entries)
                merges.append((whole, letter))
            whole += letter
    return entries, merges


def write(vocab: Path, merges: Path) -> None:
    """Both files."""
    entries, pairs = vocabulary()
    vocab.write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")
    lines = ["#version: 0.2", *(f"{first} {second}" for first, second in pairs), ""]
    merges.write_text("\n".join(lines), encoding="utf-8", newline="\n")
