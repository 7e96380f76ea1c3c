# ruff: noqa: RUF001 - Chinese text is meant
"""Chinese sentences with how they are read, and how far what was heard is off.

Two writings of the same words count as the same: traditional or simplified characters, numbers in
digits or in characters, any punctuation. Knows: texts. Does not know: speech, recognisers.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from streaming.cosyvoice.verify.edits import edits

SENTENCES = (
    # Conversation.
    ("喂，你好，请问您找哪位？", None),
    ("今天天气怎么样，要不要出去走走？", None),
    ("不好意思，路上堵车，我来晚了一点。", None),
    ("这道菜味道很不错，你尝一尝。", None),
    ("我们明天上午在公司门口见面，好不好？", None),
    ("请稍等，我帮您查一下订单。", None),
    ("感谢您的来电，祝您生活愉快，再见。", None),
    ("周末我想在家里看电影，你要一起吗？", None),
    ("别着急，事情总会慢慢好起来的。", None),
    ("刚才的声音太小了，我没有听清楚，请再说一遍。", None),
    ("这家店的衣服又便宜又好看。", None),
    ("你先休息一会儿，等一下我们再讨论。", None),
    # Numbers.
    ("一共328块钱，您是刷卡还是付现金？", "一共三百二十八块钱，您是刷卡还是付现金？"),
    ("现在是下午3点45分。", "现在是下午三点四十五分。"),
    ("他今年26岁，身高一米八。", "他今年二十六岁，身高一米八。"),
    ("我的电话号码是13800138000。", "我的电话号码是幺三八零零幺三八零零零。"),
    ("会议安排在2026年12月5日。", "会议安排在二零二六年十二月五日。"),
    ("今年的销售额增长了15%。", "今年的销售额增长了百分之十五。"),
    ("从这里到机场大约需要一个半小时。", None),
    ("房间号是602，在六楼。", "房间号是六零二，在六楼。"),
    ("这本书一共有450页。", "这本书一共有四百五十页。"),
    # Characters of several readings.
    ("他在银行工作，每天步行回家。", None),
    ("你得把这件事情做得更好。", None),
    ("孩子们长大了，头发也长长了。", None),
    ("请重新检查一遍，这一点非常重要。", None),
    ("我还有两本书要还给图书馆。", None),
    ("音乐会结束以后，大家都很快乐。", None),
    ("他睡着了，手里还拿着一本书。", None),
    ("这个数据不准确，我们数了好几遍。", None),
    ("为了参加比赛，他为大家准备了很多东西。", None),
)
"""Thirty, each as it is written and as it is read where that differs."""

PROMPT = "以下是普通话的句子。"
"""Asks a recogniser for simplified characters."""

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "幺": 1,
}
_TENS = {"十": 10, "百": 100, "千": 1_000}
_MYRIADS = {"万": 10_000, "亿": 100_000_000}
_NUMBER = re.compile(f"[{''.join(_DIGITS)}{''.join(_TENS)}{''.join(_MYRIADS)}]+")


def errors(wanted: str, heard: str) -> tuple[int, int]:
    """Characters substituted, dropped or put in, and how many ``wanted`` has."""
    reference, got = plain(wanted), plain(heard)
    return edits(reference, got), len(reference)


def plain(text: str) -> str:
    """The text in simplified characters, digits for numbers, no marks."""
    text = _simplifier().convert(text).lower()
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(\d+(?:\.\d+)?)%", r"百分之\1", text)
    text = re.sub(r"(\d{1,2}):(\d{2})", r"\1点\2分", text)
    return re.sub(r"\W", "", _NUMBER.sub(_in_digits, text))


def _in_digits(found: re.Match[str]) -> str:
    chars = found.group()
    if not set(chars) & (_TENS.keys() | _MYRIADS.keys()):
        return "".join(str(_DIGITS[char]) for char in chars)
    total = section = digit = 0
    for char in chars:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _TENS:
            section += (digit or 1) * _TENS[char]
            digit = 0
        else:
            total += (section + digit or 1) * _MYRIADS[char]
            section = digit = 0
    return str(total + section + digit)


@cache
def _simplifier() -> Any:
    from opencc import OpenCC  # noqa: PLC0415 - for those who measure alone

    return OpenCC("t2s")
