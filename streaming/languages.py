"""Language tags (BCP 47).

Knows: how a tag is written. Does not know: which languages there are.
"""

from __future__ import annotations


def primary(tag: str) -> str:
    """The primary one: ``zh`` of ``zh-CN`` and ``zh_TW``, ``auto`` of ``auto``."""
    return tag.replace("_", "-").partition("-")[0].lower()
