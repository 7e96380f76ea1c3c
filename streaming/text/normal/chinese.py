"""Chinese text as it is said.

Knows: the order in which constructs are looked for, each before those it contains. Does not know:
where the text came from.
"""

from __future__ import annotations

import re

from streaming.text.normal import chinese_codes as codes
from streaming.text.normal import chinese_math as maths
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
    scaled,
)

_SIGNS = Signs(CHINESE_SIGNS, "")
N = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_SIGN = r"(?:(?<![A-Za-z0-9)）\]年月日号点第])[-−+±])?"
_MINUS = r"(?:(?<![A-Za-z0-9)）\]])[-−+±])?"
_TO = r"\s?[-–—~～∼]\s?|\s?[至到]\s?"
_LONG = 9
_HIGHEST_SCORE = 150
"""Of two numbers with a dash between, where the second is less."""
_CURRENCIES = {"$": "美元", "＄": "美元", "US$": "美元", "€": "欧元", "£": "英镑", "￡": "英镑", "¥": "元", "￥": "元", "₩": "韩元", "HK$": "港元", "NT$": "新台币", "A$": "澳元", "C$": "加元", "₽": "卢布", "₹": "卢比", "USD": "美元", "EUR": "欧元", "GBP": "英镑", "CNY": "元", "RMB": "元", "JPY": "日元", "HKD": "港元"}  # fmt: skip
_CURRENCY = "|".join(re.escape(sign) for sign in sorted(_CURRENCIES, key=len, reverse=True))
_WORD_SCALES = {"w": "万", "W": "万"}
_POWERS = {"k": 3, "K": 3, "M": 6, "m": 6, "B": 9, "b": 9, "bn": 9}
_COUNTED_NEXT = re.compile(rf"\s?(?:多|余|来)?(?:{units.MEASURES})(?![月日号])")


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
    sign, symbol, inner, low, scale, high, high_scale, per = found.groups()
    minus = "负" if sign or inner else ""
    unit = _CURRENCIES[symbol.strip()]
    said = _scaled_amount(low, scale)
    if high:
        said += f"到{_scaled_amount(high, high_scale)}"
    return f"{minus}{said}{unit}{f'每{units.name(per)}' if per else ''}"


def _scaled_amount(written: str, scale: str | None) -> str:
    word = (scale or "").strip()
    if word in _POWERS:
        return scaled(written, _POWERS[word])
    return amount(written) + _WORD_SCALES.get(word, word)


def _trailing_money(found: re.Match[str]) -> str:
    return f"{_scaled_amount(found[1], found[2])}{_CURRENCIES[found[3]]}"


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
    """``15k``: 一万五千, ``1.2w``: 一点二万."""
    low, high, scale = found[1], found[2], found[3]
    if scale in _POWERS:
        return "到".join(
            count(f"{int(each)}000") if each.isdigit() else scaled(each, _POWERS[scale])
            for each in (low, high)
            if each
        )
    said = f"{_n(low)}到{_n(high)}" if high else count(low)
    return said + _WORD_SCALES[scale]


def _letter_k(found: re.Match[str]) -> str:
    return f"{number(found[1])}K"


def _pages(found: re.Match[str]) -> str:
    return f"{found[1]}{number(found[2])}到{number(found[3])}"


def _three(found: re.Match[str]) -> str:
    return "杠".join(number(part) for part in found.groups())


def _size(found: re.Match[str]) -> str:
    return f"{digits(found[1])}，{number(found[2])}{found[3]}"


def _less(found: re.Match[str]) -> str:
    return f"{found[1]}{number(found[2])}减{number(found[3])}"


def _metres(found: re.Match[str]) -> str:
    return f"{cardinal(int(found[1]))}米{digits(found[2])}"


def _pressure(found: re.Match[str]) -> str:
    return f"{found[1]}{number(found[2])}比{number(found[3])}{'毫米汞柱' if found[4] else ''}"


def _fraction(found: re.Match[str]) -> str | None:
    whole, top, bottom = found[1], int(found[2]), int(found[3])
    if not top or not bottom:
        return None
    if {top, bottom} == {24, 7}:
        return "二十四小时全天" if top > bottom else "七乘二十四"
    said = f"{cardinal(bottom)}分之{cardinal(top)}"
    return f"{cardinal(int(whole))}又{said}" if whole else said


def _score(found: re.Match[str]) -> str:
    return f"{found[1]}{'比'.join(cardinal(int(part)) for part in re.findall('[0-9]+', found[2]))}"


def _ratio(found: re.Match[str]) -> str:
    return f"{number(found[1])}比{number(found[2])}"


def _range(found: re.Match[str]) -> str:
    low, high = found[1], found[2]
    if low.isdigit() and high.isdigit() and int(high) < int(low) <= _HIGHEST_SCORE:
        return f"{number(low)}比{number(high)}"
    counted = _COUNTED_NEXT.match(found.string, found.end())
    return f"{(count if counted else number)(low)}到{(count if counted else _n)(high)}"


def _price(found: re.Match[str]) -> str:
    """What stands before 元: without the noughts at its end."""
    written = found.group().replace("，", ",")
    if written == "2":
        return "两"
    return f"正负{amount(written[1:])}" if written.startswith("±") else amount(written)


def _counted(found: re.Match[str]) -> str:
    return count(found.group().replace("，", ","))


def _number(found: re.Match[str]) -> str:
    written = found.group().replace("，", ",")
    plain = written.lstrip("+-−±")
    if plain.isdigit() and len(plain) >= _LONG and plain[-4:] != "0000":
        return by_fours(plain) if len(plain) > 11 else digits(plain)
    return _n(written)


_SAME_UNIT = "元|块|万|亿|岁|天|年|月|日|号|点|时|分|秒|人|次|米|公里|斤|公斤|度|k|K|w|W|℃|cm|mm|kg|g|ml|楼|层|章|页|集|期|周|路|倍|折|级|名|位|个|件|寸|厘米|毫米|千克|小时|分钟|m|km/h|h|min|V|W|Hz|GHz|MHz|GB|MB|L|mL|mg|t"
_SCALE = r"\s?(?:[kKwWMB]|万亿|亿|万|千万|百万)(?![A-Za-z])"
_RULES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (MAIL, _mail),
    (WEB, _address),
    *maths.EARLY,
    *codes.RULES,
    (clock.STAMP, " "),
    (clock.YMD, clock.say_ymd),
    (clock.COMPACT, clock.say_compact),
    (clock.FESTIVAL, clock.say_festival),
    (clock.EXPIRY, clock.say_expiry),
    (clock.PLACE, clock.say_place),
    (clock.HOURS, clock.say_hours),
    (clock.HUNDREDTHS, clock.say_hundredths),
    (clock.RAN, clock.say_ran),
    (re.compile(r"([\u4e00-\u9fff])\s?[xX×*](\d{1,5})(?![\dA-Za-z.*])"), lambda found: f"{found[1]}乘{number(found[2])}"),
    (re.compile(r"(?<!\d)0(?=\d[月日号])"), ""),
    (re.compile(r"(排名|名次|进度)([:：]?\s?)(\d+)/(\d+)(?![\d/.])"), lambda found: f"{found[1]}{found[2]}{number(found[3])}，共{number(found[4])}"),
    (re.compile(r"(?<![\d./])(\d\.\d{1,2})/(\d{1,3}(?:\.\d{1,2})?)(?![\d/.])"), lambda found: f"{number(found[1])}，满分{number(found[2])}"),
    (re.compile(rf"(?<![\d.A-Za-z])({N})W(?=\+|[粉播音人次阅点赞浏的])|(?<=[薪资价入标破超过款])({N})W(?![A-Za-z0-9])"), lambda found: f"{count(found[1] or found[2])}万"),
    *signs.ABOUT,
    (re.compile(r"(?<![A-Za-z])[Ll][Vv]\.?(\d{1,3})(?!\d)"), lambda found: f"{number(found[1])}级"),
    (clock.LASTED, clock.say_lasted),
    (re.compile(rf"(?<=\d)({_SAME_UNIT})(?![A-Za-z])\s?[-–—~～]\s?(?={N}\1(?![A-Za-z]))"), lambda found: f"{found[1]}到"),
    (re.compile(r"(?<![A-Za-z])([Pp])\.?(\d{1,4})\s?[-–—~]\s?(\d{1,4})(?!\d)"), _pages),
    (re.compile(rf"([满每])({N})\s?[-–—减]\s?({N})(?![\d-])"), _less),
    (re.compile(r"(?<![\d.])(\d)米(\d{2})(?![\d米厘毫分cm]|\.\d)"), _metres),
    (re.compile(r"(血压[^\d，。]{0,4})(\d{2,3})/(\d{2,3})(?!\d)(?:\s?(mmHg))?"), _pressure),
    (re.compile(r"(?<![\d/.])(\d{1,3})/(\d{1,3})/(\d{1,3})(?![\d/]|\.\d)"), _three),
    (re.compile(r"([表图式例]\s?)(\d{1,2})[-–](\d{1,2})(?!\d)"), lambda found: f"{found[1]}{number(found[2])}杠{number(found[3])}"),
    (re.compile(r"(?<![\d.-])()(\d{1,3}\s?[-–:：]\s?\d{1,3})(?=获胜|输|赢|[大小完]?胜|惜败|领先|落后|战平|打平|逆转|击败)"), _score),
    (re.compile(r"(?<![\d/.])(1[4-9]\d)/(\d{2,3})([A-E])(?![A-Za-z0-9])"), _size),
    (re.compile(r"(?<![\d.A-Za-z])([vV]\.?)?(\d+(?:\.\d+){2,7})(?!\d|\.\d)"), _version),
    (re.compile(rf"([-−])?(?<![A-Z])({_CURRENCY})\s?([-−])?({N})({_SCALE})?(?:(?:{_TO})(?:{_CURRENCY})?({N})({_SCALE})?)?(?![\d.])(?:元|块(?:钱)?)?(?:/({units.PER})(?![A-Za-z]))?"), _money),
    (re.compile(rf"(?<![\d.])({N})(\s?(?:[kKwW]|万亿|亿|万))?\s?({_CURRENCY})(?![A-Za-z0-9])"), _trailing_money),
    (clock.CLOCK_RANGE, clock.say_clock_range),
    (clock.YM, clock.say_ym),
    (clock.CLOCK, clock.say_clock),
    (clock.HOUR, clock.say_hour),
    (re.compile(rf"(?<![\d.])({_MINUS}{N})[%％]?(?:(?:{_TO})({N}))?\s?([%％‰])"), _percent),
    (re.compile(rf"(?<![\d.])((?:(?<![\dA-Za-z)）])[-−])?{N})(?:℃|°C|度)?(?:(?:\s?[~～至到]\s?|\s?[-–—]\s?)([-−]?{N}))?\s?(℃|°C|ºC|℉|°F|摄氏度|华氏度|度(?!数|电|角))"), _temperature),
    (re.compile(rf"(?<![\d.A-Za-z])({_SIGN}{N})(?:(?:{_TO})({N}))?\s?({units.UNIT})"), _measure),
    (re.compile(rf"(?<=[\d零一二两三四五六七八九十][万亿千百])({units.UNIT})"), lambda found: units.name(found[1])),
    *maths.POWERS,
    (clock.YEAR_RANGE, clock.say_year_range),
    (clock.YEARS, clock.say_years),
    (clock.YEAR, clock.say_year),
    (clock.MD, clock.say_md),
    (clock.DAY_BEFORE, clock.say_day_before),
    (clock.DATE_RANGE, clock.say_date_range),
    (re.compile(r"((?:比分|[大小完]?胜|战胜|击败|负|赢|输|领先|落后|战平|踢成|打成|战成|扳成|暂时|以|成绩)[^\d，。]{0,4})(?<!\d)(\d{1,3}\s?[-–—:：]\s?\d{1,3})(?![\d/:-])"), _score),
    (re.compile(r"(?<![\d./A-Za-z])(?:(\d{1,3})\s)?(\d{1,4})[/⁄](\d{1,4})(?![\d/A-Za-z]|\.\d)"), _fraction),
    (re.compile(rf"(?<![\d.:：])({N})\s?[:：∶]\s?({N})(?![\d:：])"), _ratio),
    (re.compile(r"(?<=[\d)）])\s?[*×xX✕·]\s?(?=[\d(（])"), "乘"),
    (re.compile(rf"(?<=[\d)）])\s?[-–−]\s?(?={N}\s?[=＝])"), "减"),
    (re.compile(r"(?<![\d.A-Za-z])(\d{1,2})[kK](?=长?跑)"), lambda found: f"{number(found[1])}公里"),
    (re.compile(rf"(?<![\d.])({N})[xX](?=速)"), lambda found: f"{count(found[1])}倍"),
    (re.compile(rf"(?<![\d.A-Za-z])({N})[kK](?=\s?(?:画质|屏|电视|分辨率|显示|视频|超清|高清|摄像|投影|蓝光|HDR|金|镀金|黄金|玫瑰金|白金|足金))"), _letter_k),
    (re.compile(r"(?<![\d.A-Za-z])(?<![薪资金价])(2|4|8|16)K(?![A-Za-z0-9月薪])"), _letter_k),
    (re.compile(rf"(?<![\d.A-Za-z])({N})(?:(?:{_TO})({N}))?([wWkK])(?![A-Za-z0-9])"), _scaled),
    (re.compile(r"(?<![\d-])(\d{1,2})-(\d{1,2})(?=班)"), lambda found: f"{number(found[1])}杠{number(found[2])}"),
    (re.compile(rf"(?<![\d.A-Za-z-])({N})(?:{_TO})([-−]?{N})(?![\d-]|\.\d|\s?[=＝])"), _range),
    (re.compile(r"(?<![A-Za-z])(H)\.(26\d)(?!\d)"), lambda found: f"{found[1]}点{digits(found[2])}"),
    *signs.BEFORE_NUMBERS,
    (re.compile(r"(?<=[\u4e00-\u9fff])(?<![年月日号点第])[-−](?=\d)"), "负"),
    (re.compile(r"(?<![\d.A-Za-z第点])2分(?=\d{1,2}秒|[钟半])"), "两分"),
    (re.compile(r"(?<![\d.A-Za-z第])2点(?=\d{1,2}分|[半整过多钟前后左]|[一三]刻|[，。！？、；\s]|$|开|到|出|集|去|来|见)"), "两点"),
    (re.compile(rf"(?<![\d.A-Za-z]){_MINUS}{N}(?=元|块|美元|欧元|英镑|日元|港元|人民币)"), _price),
    (re.compile(rf"(?<![\d.A-Za-z第月年零]){N}(?=\s?(?:多|余|来)?(?:{units.MEASURES}))(?!\s?[月日号点](?!半))"), _counted),
    *codes.AFTER,
    (re.compile(r"(?<![A-Za-z0-9_.])\.\d+"), _number),
    (re.compile(rf"{_MINUS}{N}"), _number),
    *signs.AFTER_NUMBERS,
)  # fmt: skip


def speak(aligned: Aligned) -> None:
    """Turn everything into words that is not."""
    for pattern, make in _RULES:
        aligned.sub(pattern, make)
