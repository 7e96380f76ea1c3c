"""Addresses of mail and web as they are said.

Knows: what an address looks like. Does not know: sentences; the stop after an address is not its
own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TLD = (
    "com|org|net|edu|gov|mil|int|io|ai|dev|app|info|biz|me|tv|cc|xyz|top|site|online|shop|club|"
    "cn|hk|tw|jp|kr|sg|uk|us|eu|de|fr|it|es|nl|ch|at|be|se|no|fi|dk|pl|pt|ru|ua|in|au|nz|ca|br|"
    "mx|za|test|example|local"
)
_HOST = rf"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{{0,61}}[A-Za-z0-9])?\.){{1,8}}(?:{_TLD})(?![A-Za-z0-9-]|\.[A-Za-z0-9])"
_PATH = r"(?::\d{1,5})?(?:[/?#](?:[\w\-./?=&%#+~:@!$*;,]{0,300}[\w\-/=&#+~])?)?"
MAIL = re.compile(
    r"(?:mailto:)?([A-Za-z0-9][\w.+-]{0,63})@((?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24})"
)
WEB = re.compile(
    rf"(?:https?|ftp|wss?)://([A-Za-z0-9\u00a1-\u3000.-]{{1,253}}{_PATH})"
    rf"|(?<![\w.@/-])((?:www\.)?{_HOST}{_PATH})",
    re.ASCII,
)


@dataclass(frozen=True)
class Signs:
    """How the signs of an address are said, and what stands between them and its words."""

    names: dict[str, str]
    gap: str

    def say(self, address: str) -> str:
        """The address sign by sign; what else is in it stays."""
        parts = re.split(r"([^A-Za-z0-9]|\d+)", address.rstrip("/"))
        said = [self.names.get(part, part) for part in parts if part]
        return " ".join(part for part in said if part.strip()) if self.gap else "".join(said)


ENGLISH_SIGNS = {
    ".": "dot",
    "@": "at",
    "/": "slash",
    "-": "dash",
    "_": "underscore",
    ":": "colon",
    "?": "question mark",
    "=": "equals",
    "&": "and",
    "#": "hash",
    "%": "percent",
    "+": "plus",
    "~": "tilde",
}
CHINESE_SIGNS = {
    ".": "点",
    "@": "艾特",
    "/": "斜杠",
    "-": "杠",
    "_": "下划线",
    ":": "冒号",
    "?": "问号",
    "=": "等于",
    "&": "和",
    "#": "井号",
    "%": "百分号",
    "+": "加",
    "~": "波浪号",
}
