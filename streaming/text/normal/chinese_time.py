"""Times of day and dates in Chinese.

Knows: how they are written and said. Does not know: sentences.
"""

from __future__ import annotations

import re

from streaming.text.normal.chinese_numbers import cardinal, count, digits, number

_HALF = r"(?:\s?([AaPp])\.?\s?[Mm]\.?(?![A-Za-z]))"
_CLOCK = rf"(\d{{1,2}})[:：](\d{{2}})(?:[:：](\d{{2}}))?(?!\d|[:：]\d){_HALF}?"
CLOCK_RANGE = re.compile(
    rf"(?<![\d.])(?<!\d[:：]){_CLOCK}\s?(?:[-–—~～至到])+\s?{_CLOCK}(?:分(?![之钟]))?(?![A-Za-z%])"
)
CLOCK = re.compile(
    rf"(?:(?<![A-Za-z])([AaPp])[Mm]\s?)?(?<![\d.,A-Za-z])(?<!\d[:：]){_CLOCK}(?:分(?![之钟]))?(?![A-Za-z%])"
)
STAMP = re.compile(r"(?<=\d)T(?=\d{2}:\d{2})")
COMPACT = re.compile(
    r"(?<![A-Za-z0-9.,-])((?:19|20)\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?![A-Za-z0-9-]|[.,]\d)"
)
LASTED = re.compile(r"(?<![\d.])(\d{1,3})['′](\d{1,2})(?:[\"″]|''|″)")
HOURS = re.compile(r"(?<![A-Za-z0-9.])(\d{1,3})h\s?(\d{1,2})\s?(?:min|m)?(?![A-Za-z\d])")
HUNDREDTHS = re.compile(r"(?<=\d)秒(\d{2})(?!\d)")
RAN = re.compile(
    r"((?:用时|耗时|历时|时长|成绩|马拉松|跑了|净计时)[^\d，。]{0,3})(\d{1,2}):(\d{2}):(\d{2})(?![\d:])"
)
PLACE = re.compile(r"(\d{1,3})[°º](\d{1,2})['′](?:(\d{1,2}(?:\.\d+)?)[\"″])?")
FESTIVAL = re.compile(
    r"(?<![\d.])(\d{1,2})[·.・](\d{1,2})(?=假期|黄金周|小长假|长假|劳动节|青年节|儿童节|妇女节|建军节|国庆|购物节|晚会|事变|事件|运动|惨案|地震|大促|维权|消费者|[”\x22])"
)
EXPIRY = re.compile(r"(有效期(?:限)?(?:至|到|截止)?[是为:：]?\s?)(0[1-9]|1[0-2])/(\d{2})(?![\d/])")
HOUR = re.compile(rf"(?<![A-Za-z0-9.:])(\d{{1,2}}){_HALF}")
YMD = re.compile(
    r"(?<![\dA-Za-z./-])((?:19|20|21)\d{2})([-/.])(\d{1,2})\2(\d{1,2})(?![\d/-]|\.\d)日?"
)
YM = re.compile(r"(?<![A-Za-z0-9./-])((?:19|20)\d{2})[/.-](0?[1-9]|1[0-2])(?=月)")
MD = re.compile(
    r"((?:[在于到从自至]|截止|截至|截至到|日期|生日|(?:周|星期)[一二三四五六日天]|今天|明天|昨天|有效期[至到]|预计|将于|已于|定于|最迟|最晚|[,，(（](?=\s?\d{1,2}/\d{1,2}(?:[日号]|\s?[（(]?(?:周|星期)|\s?(?:上午|下午|晚|早|凌晨|\d{1,2}[:：]))))\s?(?:是|为|：)?\s?)(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])(?![\d/%.]|的|\s?[a-zA-Z英])(?=[日号(（,，。\s(]|$|[\u4e00-\u9fff])"
)
DAY_BEFORE = re.compile(
    r"(?<![\d/.])(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])(?=放假|上班|开学|开始|截止|到期|之前|前[，。完]|起[，。]|发货|送达|出发|开业|上映)"
)
YEARS = re.compile(
    r"(?<![\d.])((?:19|20)\d{2})\s?[-–—~～至到]\s?((?:19|20)\d{2})(?![\d.]|\s?[年元个人块万次米])"
)
YEAR_RANGE = re.compile(r"(?<!\d)(1\d{3}|20\d{2})年?\s?[-–—~～至到]\s?(1\d{3}|20\d{2})年")
YEAR = re.compile(
    r"(?<![\d.])(1\d{3}|2[01]\d{2})(?=\s?年(?![前后多来]|之?[间内久]|以[上下来]|的?历史|时间|寿命))|(?<![\d.])(?:19|20)\d{2}(?=Q[1-4]|财年|学年|赛季|[届款版级])|(?<!\d)\d{2}(?=年\d{1,2}月)|(?<=公元)\d{1,4}(?=年)|(?<=公元前)\d{1,4}(?=年)|(?<![\d.])0\d(?=年)|(?<![\d.])[4-9]\d(?=年(?:出生|生|毕业|入学|版|款|次|的(?:人|老)))"
)
DATE_RANGE = re.compile(r"(\d{1,2})(月|日|号)?\s?[-–—~～]\s?(\d{1,2})(?=[月日号])")
_LAST_HOUR, _LAST_MINUTE, _TEN, _HALF_HOUR = 24, 59, 10, 30
_LAST_MONTH, _LAST_DAY = 12, 31
_AM = {"a": "上午", "p": "下午"}
_EVENING, _NOON = 6, 12


def say_clock(found: re.Match[str]) -> str | None:
    """``9:45am``: 上午九点四十五分; where a score is spoken of, 比."""
    before = found.string[max(0, found.start() - 8) : found.start()]
    if re.search("比分|[以]\\s?$|[大小]胜|战胜|击败|领先|落后|比例|赔率|画幅|宽高比|比率", before):
        return f"{cardinal(int(found[2]))}比{cardinal(int(found[3]))}"
    half = None if _half_said(found) else found[5] or found[1]
    return _clock(found[2], found[3], found[4], half)


def say_clock_range(found: re.Match[str]) -> str | None:
    """``9:00-10:00``: 九点到十点."""
    begin, end = _clock(*found.groups()[:4]), _clock(*found.groups()[4:])
    return f"{begin}到{end}" if begin and end else None


def say_hour(found: re.Match[str]) -> str | None:
    """``9am``: 上午九点."""
    return _clock(found[1], "00", None, None if _half_said(found) else found[2])


def _half_said(found: re.Match[str]) -> bool:
    """Whether the half of the day stands before it in words."""
    before = found.string[max(0, found.start() - 4) : found.start()].rstrip()
    return before.endswith(("早上", "上午", "中午", "下午", "傍晚", "晚上", "凌晨", "夜里"))


def _clock(hour: str, minute: str, second: str | None, half: str | None) -> str | None:
    if int(hour) > _LAST_HOUR or int(minute) > _LAST_MINUTE or int(second or 0) > _LAST_MINUTE:
        return None
    said = ("两" if int(hour) == 2 else cardinal(int(hour))) + "点"
    second = second if second and int(second) else None
    if int(minute) or second:
        said += (
            ("零" if int(minute) < _TEN else "")
            + (cardinal(int(minute)) if int(minute) else "")
            + "分"
        )
    if second:
        said += cardinal(int(second)) + "秒"
    return _day_half(half, int(hour)) + said


def _day_half(half: str | None, hour: int) -> str:
    if half is None:
        return ""
    if half.lower() == "a" and hour == _NOON:
        return "凌晨"
    late = half.lower() == "p" and _EVENING <= hour < _NOON
    return (
        "晚上"
        if late and hour > _EVENING
        else ("中午" if half.lower() == "p" and hour == _NOON else _AM[half.lower()])
    )


def say_ymd(found: re.Match[str]) -> str | None:
    """``2026/03/18``: 二零二六年三月十八日."""
    month, day = int(found[3]), int(found[4])
    if not (1 <= month <= _LAST_MONTH and 1 <= day <= _LAST_DAY):
        return None
    return f"{digits(found[1])}年{cardinal(month)}月{cardinal(day)}日"


def say_ym(found: re.Match[str]) -> str:
    """``2026-03`` before 月."""
    return f"{digits(found[1])}年{cardinal(int(found[2]))}"


def say_md(found: re.Match[str]) -> str:
    """``在3/18``: 三月十八日."""
    mark = "" if found.string[found.end() : found.end() + 1] in {"日", "号"} else "日"
    return f"{found[1]}{cardinal(int(found[2]))}月{cardinal(int(found[3]))}{mark}"


def say_compact(found: re.Match[str]) -> str:
    """``20260318``."""
    return f"{digits(found[1])}年{cardinal(int(found[2]))}月{cardinal(int(found[3]))}日"


def say_lasted(found: re.Match[str]) -> str:
    """``3'20"``: a time, or someone's height."""
    before = found.string[max(0, found.start() - 8) : found.start()]
    units = ("英尺", "英寸") if re.search("[身个]高|高度", before) else ("分", "秒")
    return f"{cardinal(int(found[1]))}{units[0]}{cardinal(int(found[2]))}{units[1]}"


def say_hours(found: re.Match[str]) -> str:
    """``4h18min``."""
    return f"{count(found[1])}小时{cardinal(int(found[2]))}分钟"


def say_hundredths(found: re.Match[str]) -> str:
    """``10秒81``."""
    return f"秒{digits(found[1])}"


def say_ran(found: re.Match[str]) -> str:
    """``马拉松2:05:30``: how long, not when."""
    minutes = ("零" if int(found[3]) < _TEN else "") + cardinal(int(found[3]))
    return f"{found[1]}{count(found[2])}小时{minutes}分{cardinal(int(found[4]))}秒"


def say_place(found: re.Match[str]) -> str:
    """``39°54′``, on the globe."""
    seconds = f"{number(found[3])}秒" if found[3] else ""
    return f"{cardinal(int(found[1]))}度{cardinal(int(found[2]))}分{seconds}"


def say_festival(found: re.Match[str]) -> str:
    """``5·1``, ``3.15``, ``11.11``: a day that has become a name."""
    month, day = int(found[1]), int(found[2])
    if month == day > _TEN:
        return f"双{cardinal(month)}"
    if month == _TEN:
        return f"十{digits(str(day))}"
    return digits(f"{month}{day}")


def say_expiry(found: re.Match[str]) -> str | None:
    """``08/27`` of a bank card is a month and a year; of anything else a day."""
    if re.search("[至到]", found[1]) and not re.search("卡|CVV|信用|安全码", found.string):
        return None
    return f"{found[1]}二零{digits(found[3])}年{cardinal(int(found[2]))}月"


def say_years(found: re.Match[str]) -> str:
    """``2020-2024``."""
    return f"{digits(found[1])}到{digits(found[2])}"


def say_day_before(found: re.Match[str]) -> str:
    """``5/1放假``."""
    return f"{cardinal(int(found[1]))}月{cardinal(int(found[2]))}日"


def say_year(found: re.Match[str]) -> str:
    """``2016`` before 年: digit by digit."""
    return digits(found.group())


def say_year_range(found: re.Match[str]) -> str:
    """``1998-2003年``."""
    return f"{digits(found[1])}到{digits(found[2])}年"


def say_date_range(found: re.Match[str]) -> str:
    """``3-5`` before 月, 日 or 号."""
    return f"{cardinal(int(found[1]))}{found[2] or ''}到{cardinal(int(found[3]))}"
