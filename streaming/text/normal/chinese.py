"""Chinese text as it is said.

Knows: the order in which constructs are looked for, each before those it contains. Does not know:
where the text came from.
"""

from __future__ import annotations

import re

from streaming.text.normal import chinese_codes as codes
from streaming.text.normal import chinese_signs as signs
from streaming.text.normal import chinese_time as clock
from streaming.text.normal import chinese_units as units
from streaming.text.normal.addresses import CHINESE_SIGNS, MAIL, WEB, Signs
from streaming.text.normal.aligned import Aligned, Make
from streaming.text.normal.chinese_numbers import (
    amount,
    by_fours,
    cardinal,
    count,
    digits,
    number,
)

_SIGNS = Signs(CHINESE_SIGNS, "")
N = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_SIGN = r"(?:(?<![\w)）\]\u4e00-\u9fff])[-−+±])?"
_MINUS = r"(?:(?<![A-Za-z0-9)）\]])[-−+±])?"
_TO = r"\s?[-–—~～∼]\s?|\s?[至到]\s?"
_LONG = 9
_CURRENCIES = {"$": "美元", "＄": "美元", "US$": "美元", "€": "欧元", "£": "英镑", "￡": "英镑", "¥": "元", "￥": "元", "₩": "韩元", "HK$": "港元", "NT$": "新台币", "A$": "澳元", "C$": "加元", "₽": "卢布", "₹": "卢比", "USD": "美元", "EUR": "欧元", "GBP": "英镑", "CNY": "元", "RMB": "元", "JPY": "日元", "HKD": "港元"}  # fmt: skip
_CURRENCY = "|".join(re.escape(sign) for sign in sorted(_CURRENCIES, key=len, reverse=True))
_SCALES = {
    "w": "万",
    "W": "万",
    "k": "千",
    "K": "千",
    "M": "百万",
    "m": "百万",
    "B": "十亿",
    "b": "十亿",
    "bn": "十亿",
}
MEASURES = "个|位|名|人|次|年|天|月|周|岁|元|块|毛|分钟|小时|秒|件|条|张|只|台|套|本|杯|瓶|份|篇|章|节|页|集|场|届|层|楼|米|千米|公里|里|斤|公斤|千克|克|吨|升|倍|成|度|美元|欧元|英镑|日元|港元|万|亿|千|百|点|款|种|项|家|间|所|辆|架|艘|部|门|颗|粒|棵|朵|双|对|副|把|支|枝|根|块钱|毛钱|句|字|行|列|排|组|队|班|级|代|期|步|口|下|遍|趟|回|声|顿|餐|顶|盏|盒|箱|包|袋|桶|罐|碗|盘|锅|串|束|堆|群|批|轮|季|刻钟|星期|礼拜|世纪|平米|平方米|平方公里|立方米|亩|公顷|寸|尺|丈|英寸|英尺|英里"


_COUNTED_NEXT = re.compile(rf"\s?(?:多|余|来)?(?:{MEASURES})(?![月日号])")


def _n(text: str) -> str:
    """A number whose sign is said as 正负 where it is both."""
    text = text.replace("，", ",")
    return f"正负{number(text[1:])}" if text.startswith("±") else number(text)


def _address(found: re.Match[str]) -> str:
    return _spell(_SIGNS.say(found[1] or found[2]))


def _mail(found: re.Match[str]) -> str:
    return _spell(_SIGNS.say(f"{found[1]}@{found[2]}"))


def _spell(address: str) -> str:
    return re.sub(r"\d+", lambda run: digits(run.group()), address)


def _version(found: re.Match[str]) -> str:
    parts = found[2].split(".")
    if len(parts) == 4 and all(int(part) <= 255 for part in parts):
        return "点".join(digits(part) for part in parts)
    prefix = "V" if found[1] else ""
    return prefix + "点".join(
        number(part) if not part.startswith("0") else digits(part) for part in parts
    )


def _money(found: re.Match[str]) -> str:
    sign, symbol, low, scale, high, high_scale = found.groups()
    minus = "负" if sign else ""
    unit = _CURRENCIES[symbol.strip()]
    said = amount(low) + _scale(scale)
    if high:
        said += f"到{amount(high)}{_scale(high_scale)}"
    return f"{minus}{said}{unit}"


def _scale(scale: str | None) -> str:
    word = (scale or "").strip()
    return _SCALES.get(word, word)


def _trailing_money(found: re.Match[str]) -> str:
    return f"{amount(found[1])}{_scale(found[2])}{_CURRENCIES[found[3]]}"


def _percent(found: re.Match[str]) -> str:
    low, high, sign = found[1], found[2], found[3]
    of = {"‰": "千分之"}.get(sign, "百分之")
    if high:
        return f"{_of(low, of)}到{_of(high, of)}"
    return _of(low, of)


def _of(written: str, of: str) -> str:
    sign = {"-": "负", "−": "负", "+": "正", "±": "正负"}.get(written[0], "")
    return f"{sign}{of}{number(written.lstrip('+-−±'))}"


def _temperature(found: re.Match[str]) -> str:
    low, high, unit = found[1], found[2], found[3]
    name = {"度": "度"}.get(unit) or units.name(unit)
    below = "零下" if low[0] in "-−" else ""
    said = below + number(low.lstrip("-−"))
    if high:
        said += "到" + ("零下" if high[0] in "-−" else "") + number(high.lstrip("-−"))
    return said + name


def _measure(found: re.Match[str]) -> str:
    low, high, unit = found[1], found[2], found[3]
    said = f"{_n(low)}到{_n(high)}" if high else ("两" if low == "2" else _n(low))
    return said + units.name(unit)


def _scaled(found: re.Match[str]) -> str:
    low, high, scale = found[1], found[2], found[3]
    if scale in "kK" and low.isdigit():
        thousands = [
            count(str(int(each) * 1000)) for each in (low, high) if each and each.isdigit()
        ]
        return "到".join(thousands)
    if scale in "wW" and not high:
        return count(low) + _SCALES[scale]
    return (f"{_n(low)}到{_n(high)}" if high else _n(low)) + _SCALES[scale]


def _fraction(found: re.Match[str]) -> str | None:
    whole, top, bottom = found[1], int(found[2]), int(found[3])
    if not top or not bottom:
        return None
    if (top, bottom) == (24, 7):
        return "二十四小时全天"
    said = f"{cardinal(bottom)}分之{cardinal(top)}"
    return f"{cardinal(int(whole))}又{said}" if whole else said


def _score(found: re.Match[str]) -> str:
    return f"{found[1]}{'比'.join(cardinal(int(part)) for part in re.findall('[0-9]+', found[2]))}"


def _ratio(found: re.Match[str]) -> str:
    return f"{number(found[1])}比{number(found[2])}"


def _range(found: re.Match[str]) -> str:
    low, high = found[1], found[2]
    counted = _COUNTED_NEXT.match(found.string, found.end())
    return f"{(count if counted else number)(low)}到{(count if counted else _n)(high)}"


def _counted(found: re.Match[str]) -> str:
    return count(found.group().replace("，", ","))


def _number(found: re.Match[str]) -> str:
    written = found.group().replace("，", ",")
    plain = written.lstrip("+-−±")
    if plain.isdigit() and len(plain) >= _LONG and plain[-4:] != "0000":
        return by_fours(plain) if len(plain) > 11 else digits(plain)
    return _n(written)


_RULES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (MAIL, _mail),
    (WEB, _address),
    *codes.RULES,
    (clock.YMD, clock.say_ymd),
    (re.compile(r"(?<![\d.A-Za-z])([vV]\.?)?(\d+(?:\.\d+){2,7})(?!\d|\.\d)"), _version),
    (re.compile(rf"([-−])?(?<![A-Z])({_CURRENCY})\s?({N})(\s?(?:[kKwWMB]|万亿|亿|万|千万|百万)(?![A-Za-z]))?(?:(?:{_TO})(?:{_CURRENCY})?({N})(\s?(?:[kKwWMB]|万亿|亿|万|千万|百万)(?![A-Za-z]))?)?(?![\d.])(?:元|块(?:钱)?)?"), _money),
    (re.compile(rf"(?<![\d.])({N})(\s?(?:[kKwWMB]|万亿|亿|万))?\s?({_CURRENCY})(?![\w])"), _trailing_money),
    (clock.CLOCK_RANGE, clock.say_clock_range),
    (clock.YM, clock.say_ym),
    (clock.CLOCK, clock.say_clock),
    (clock.HOUR, clock.say_hour),
    (re.compile(rf"(?<![\d.])({_MINUS}{N})[%％]?(?:(?:{_TO})({N}))?\s?([%％‰])"), _percent),
    (re.compile(rf"(?<![\d.])((?:(?<![\dA-Za-z)）])[-−])?{N})(?:℃|°C|度)?(?:(?:\s?[~～至到]\s?|\s?[-–—]\s?)([-−]?{N}))?\s?(℃|°C|ºC|℉|°F|摄氏度|华氏度|度(?!数|电|角))"), _temperature),
    (re.compile(rf"(?<![\d.A-Za-z])({_SIGN}{N})(?:(?:{_TO})({N}))?\s?({units.UNIT})"), _measure),
    (clock.YEAR_RANGE, clock.say_year_range),
    (clock.YEAR, clock.say_year),
    (clock.MD, clock.say_md),
    (clock.DATE_RANGE, clock.say_date_range),
    (re.compile(r"((?:比分|[大小完]?胜|战胜|击败|负|赢|输|领先|落后|战平|踢成|打成|战成|扳成|暂时|以|成绩)[^\d，。]{0,4})(?<!\d)(\d{1,3}\s?[-–—:：]\s?\d{1,3})(?![\d/:-])"), _score),
    (re.compile(r"(?<![\d./A-Za-z])(?:(\d{1,3})\s)?(\d{1,4})[/⁄](\d{1,4})(?![\d/A-Za-z]|\.\d)"), _fraction),
    (re.compile(rf"(?<![\d.:：])({N})\s?[:：∶]\s?({N})(?![\d:：])"), _ratio),
    (re.compile(r"(?<=[\d)）])\s?[*×xX✕·]\s?(?=[\d(（])"), "乘"),
    (re.compile(rf"(?<=[\d)）])\s?[-–−]\s?(?={N}\s?[=＝])"), "减"),
    (re.compile(rf"(?<![\d.])({N})\^({N})"), lambda found: f"{number(found[1])}的{number(found[2])}次方"),
    (re.compile(r"(?<![\d.A-Za-z])(2|4|8|16)K(?![A-Za-z0-9月薪])"), lambda found: f"{number(found[1])}K"),
    (re.compile(rf"(?<![\d.A-Za-z])({N})(?:(?:{_TO})({N}))?([wWkK])(?![A-Za-z0-9])"), _scaled),
    (re.compile(rf"(?<![\d.A-Za-z-])({N})(?:{_TO})([-−]?{N})(?![\d-]|\.\d|\s?[=＝])"), _range),
    *signs.BEFORE_NUMBERS,
    (re.compile(r"(?<=[\u4e00-\u9fff])(?<![年月日号点第])[-−](?=\d)"), "负"),
    (re.compile(rf"(?<![\d.A-Za-z]){N}(?=元|块|美元|欧元|英镑|日元|港元|人民币)"), lambda found: "两" if found.group() == "2" else amount(found.group().replace("，", ","))),
    (re.compile(rf"(?<![\d.A-Za-z第月年零]){N}(?=\s?(?:多|余|来)?(?:{MEASURES}))(?!\s?[月日号点](?!半))"), _counted),
    *codes.AFTER,
    (re.compile(rf"{_MINUS}{N}"), _number),
    *signs.AFTER_NUMBERS,
)  # fmt: skip


def speak(aligned: Aligned) -> None:
    """Turn everything into words that is not."""
    for pattern, make in _RULES:
        aligned.sub(pattern, make)
