"""Signs and the words of live chat in Chinese.

Knows: signs that are said and those that are silent. Does not know: numbers.
"""

from __future__ import annotations

import re
import unicodedata

from streaming.text.normal import chinese_units as units
from streaming.text.normal.aligned import Make
from streaming.text.normal.chinese_numbers import cardinal

_COMPARED = {
    "<": "小于", ">": "大于", "=": "等于", "＝": "等于", "≠": "不等于", "≤": "小于等于", "≥": "大于等于", "<=": "小于等于", ">=": "大于等于",
    "==": "等于", "!=": "不等于", "≈": "约等于", "≒": "约等于", "×": "乘", "÷": "除以", "±": "正负", "+": "加", "＋": "加", "−": "减",
    "→": "到", "->": "到", "⇒": "到", "∞": "无穷大", "√": "根号", "∛": "三次根号",
    "∈": "属于", "∉": "不属于", "∪": "并", "∩": "交", "⊂": "包含于", "⊆": "包含于", "∀": "任意", "∃": "存在", "∑": "求和", "∫": "积分", "∏": "连乘", "∂": "偏",
    "⁄": "除以", "∓": "负正", "∠": "角", "⊥": "垂直于",
}  # fmt: skip
_COMPARE = "|".join(re.escape(sign) for sign in sorted(_COMPARED, key=len, reverse=True))
_ALONE = {"&": "和", "%": "百分号", "‰": "千分号", "°": "度", "№": "第", "§": "第", "$": "美元", "€": "欧元", "£": "英镑", "℃": "摄氏度", "㎡": "平方米", "²": "平方", "³": "立方", "½": "二分之一", "¼": "四分之一", "¾": "四分之三", "⅓": "三分之一", "⅔": "三分之二", "∅": "空集", "∞": "无穷大", "∵": "因为", "∴": "所以", "∥": "平行于", "△": "三角形"}  # fmt: skip
_CHAT = {"yyds": "Y Y D S", "xswl": "笑死我了", "awsl": "啊我死了", "u1s1": "有一说一", "nsdd": "你说得对", "zqsg": "真情实感", "dbq": "对不起", "yysy": "有一说一", "plmm": "漂亮妹妹", "nbcs": "没人在乎", "dddd": "懂的都懂", "yygq": "阴阳怪气", "cpdd": "C P D D", "kdl": "磕到了", "ssmy": "盛世美颜", "bhys": "不好意思", "hhh": "哈哈哈", "hhhh": "哈哈哈哈", "hhhhh": "哈哈哈哈哈", "hhhhhh": "哈哈哈哈哈哈", "bdjw": "不懂就问", "kswl": "磕死我了", "pyq": "朋友圈", "gkd": "搞快点", "ssfd": "瑟瑟发抖", "tql": "太强了", "jms": "姐妹们", "srds": "虽然但是", "emo": "emo", "pk": "P K", "vs": "V S", "vs.": "V S", "VS": "V S", "up主": "阿婆主", "UP主": "阿婆主", "No.": "第", "NO.": "第"}  # fmt: skip
_CHAT_WORDS = "|".join(re.escape(word) for word in sorted(_CHAT, key=len, reverse=True))
_NAMES = {"C++": "C加加", "c++": "C加加", "C#": "C sharp", "F#": "F sharp", ".NET": "dot NET", "ASP.NET": "A S P dot NET", "R&D": "R and D", "Q&A": "Q and A", "A+": "A加", "B+": "B加", "A股": "A股", "B2B": "B to B", "B2C": "B to C", "C2C": "C to C", "O2O": "O to O", "P2P": "P to P", "M2M": "M to M"}  # fmt: skip
_NAME_WORDS = "|".join(re.escape(name) for name in sorted(_NAMES, key=len, reverse=True))
_MANY = 6


def _chat(found: re.Match[str]) -> str:
    return _CHAT[found.group()]


def _about(found: re.Match[str]) -> str:
    """A tilde before a number, unless the word for it is there."""
    said = found.string[: found.start()].rstrip().endswith(("约", "概", "近"))
    return "" if said else "约"


def _again(found: re.Match[str]) -> str:
    return found[1] * _MANY


def _circled(found: re.Match[str]) -> str:
    """``①``, ``Ⅱ``."""
    value = cardinal(round(unicodedata.numeric(found.group())))
    return value if "Ⅰ" <= found.group() <= "ⅿ" else f"{value}，"


def _list_number(found: re.Match[str]) -> str:
    return f"{cardinal(int(found[1]))}，"


BEFORE_NUMBERS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(rf"(?<![A-Za-z0-9.+#])(?:{_NAME_WORDS})(?![A-Za-z0-9+#])"), lambda found: _NAMES[found.group()]),
    (re.compile(rf"(?<![A-Za-z0-9_.@/-])(?:{_CHAT_WORDS})(?![A-Za-z_/-])"), _chat),
    (re.compile(r"\A\s*(\d{1,2})(?:[.．、)）](?!\d)\s*)(?=\S)"), _list_number),
    (re.compile(r"(?<=[\s:：；，])(\d{1,2})[.．](?=[\u4e00-\u9fff])"), _list_number),
    (re.compile(r"[(（](\d{1,2})[)）](?=\s?(?!个)[\u4e00-\u9fff])"), _list_number),
    (re.compile("[\u2160-\u217f\u2460-\u249b\u3220-\u3229\u3280-\u3289\u24f5-\u24fe\u2776-\u2793]"), _circled),
    (re.compile(r"[#＃](?=号键?|键)"), "井"),
    (re.compile(r"(?<=[按拨])[#＃](?![\w号键])"), "井号键"),
    (re.compile(r"(?<=[\u4e00-\u9fffA-Za-z]{2})\s>\s(?=[\u4e00-\u9fffA-Za-z]{2})"), "，"),
    (re.compile(r"(?<![A-Za-z0-9])[#＃№](?=\d)"), lambda _: ""),
    (re.compile(r"(?<![A-Za-z0-9.)])\+1(?![\d.])"), lambda _: "加一"),
    (re.compile(r"([A-Za-z]\d{1,3})\+"), lambda found: f"{found[1]}加"),
    (re.compile(r"(?<=\d)\+(?=[\u4e00-\u9fff，。！？\s]|$)(?!\s?\d)"), lambda _: "多" ),
    (re.compile(r"(?<=[万千亿])\+"), "加"),
    (re.compile(r"(?<=[周期][一二三四五六日天])\s?[-–—~～]\s?(?=(?:周|星期)?[一二三四五六日天])"), "到"),
)  # fmt: skip
ABOUT: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"[↑▲](?=\s?\d)"), "上升"),
    (re.compile(r"[↓▼](?=\s?\d)"), "下降"),
    (re.compile(r"(?<![^\s，。：:；、（(“])[~～∼](?=\d)|(?<=[约概近])[~～∼](?=\d)"), _about),
)
"""Before a number that has a unit behind it."""
AFTER_NUMBERS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"[~～∼]+\s*\Z"), ""),
    (re.compile(r"[~～∼]+(?=\s|$|[，。！？、,!?])|(?<=[\u4e00-\u9fff])[~～∼]+"), lambda _: "，"),
    (re.compile(rf"\s?(?<![<>=+\-→])(?:{_COMPARE})(?![<>=+→])\s?(?=[\w(（“\u4e00-\u9fff\[{{∅√∛∑∫∞-])"), lambda found: _COMPARED[found.group().strip()]),
    (re.compile(rf"(?<=[元块])/({units.PER})(?![A-Za-z])"), lambda found: f"每{units.name(found[1])}"),
    (re.compile(rf"[{''.join(map(re.escape, _ALONE))}]"), lambda found: _ALONE[found.group()]),
    (re.compile(r"(?<=[元块])/(?=[零一二两三四五六七八九十百千])"), "每"),
    (re.compile(r"(?<=[元块次个人斤米升千克吨天年月秒分时件])/(?=[斤克米升次个人天年月日秒分时吨亩件公千平小])"), lambda _: "每"),
    (re.compile(r"(?<=[A-Za-z0-9])@(?=[A-Za-z0-9])"), lambda _: "艾特"),
    (re.compile("(?<=[点分秒日号月年])[-–—~～](?=[零一二两三四五六七八九十])"), "到"),
    (re.compile("和/或"), lambda _: "和或"),
    (re.compile(r"(?<=[A-Za-z])/(?=[A-Za-z])"), lambda _: " "),
    (re.compile(r"(?<=[A-Za-z])-(?=[零一二三四五六七八九十百千万])"), lambda _: ""),
    (re.compile(r"[@＠]"), lambda _: ""),
    (re.compile(r"(?<=[\u4e00-\u9fff])[-–‐](?=[\u4e00-\u9fff])"), lambda _: "，"),
    (re.compile(r"(?<=[\u4e00-\u9fffA-Za-z])/(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])/(?=[A-Za-z])"), lambda _: "或"),
    (re.compile(r"([\u4e00-\u9fff])\1{6,}"), _again),
    (re.compile(r"([hH]a|[哈嘿呵嘻嘎][哈嘿呵嘻嘎])\1{5,}"), lambda found: found[1] * 3),
    (re.compile(r"[~～^|\\<>{}=＝•■□▪◦©®™†‡¤¦ªº←↑→↓↔⇒✓✔✗✘★☆●○◆◇#＃\[\]]+"), lambda _: " "),
)  # fmt: skip
