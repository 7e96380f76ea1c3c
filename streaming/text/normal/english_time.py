"""Times of day and dates in English.

Knows: how they are written and said. Does not know: sentences.
"""

from __future__ import annotations

import re

from streaming.text.normal.aligned import Make
from streaming.text.normal.english_numbers import cardinal, ordinal, plural, year

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_SHORT = {month[:3].lower(): month for month in MONTHS}
_MONTH = "|".join(
    [*MONTHS, *(f"{month[:3]}\\.?" for month in MONTHS if month != "May"), "Sept\\.?"]
)
_HALF = r"(?:\s?([AaPp])(?:\.\s?[Mm]\b(?:\.(?=\s*[\w,;:)(—–-]))?|[Mm]\b))"
_CLOCK = rf"(\d{{1,2}}):(\d{{2}})(?::(\d{{2}}))?(?!\d|:\d){_HALF}?"

CLOCK_RANGE = re.compile(rf"(?<![\w.:]){_CLOCK}\s?(?:[-–—~～]|to)\s?{_CLOCK}(?![\w%])")
CLOCK = re.compile(rf"(?<![\w.:,]){_CLOCK}(?!(?!ish\b)[\w%])(ish\b)?")
HOUR_RANGE = re.compile(
    rf"(?<![\w.:])(\d{{1,2}})(?::(\d{{2}}))?{_HALF}?\s?[-–—]\s?(\d{{1,2}}){_HALF}(?!\w)"
)
STAMP = re.compile(r"(?<=\d)T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?(?!\w)")
COMPACT = re.compile(
    r"(?<![\w.,-])((?:19|20)\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?![\w-]|[.,]\d)"
)
LASTED = re.compile(r"(?<![\w.:])(\d{1,3})\s?h(?:rs?)?\s?(\d{1,2})\s?(?:m(?:in)?)?(?![\w.])")
HOUR = re.compile(rf"(?<![\w.:$€£,])(\d{{1,2}}){_HALF}(?!\w)")
ISO = re.compile(r"(?<![\w./-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:(T)(?=\d)|(?![\w/-]|\.\d))")
SLASHED = re.compile(r"(?<![\w./-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|\.\d)")
MONTH_DAY = re.compile(
    rf"\b({_MONTH})\s(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%.]\d|\d|\w)(?:(\s?[-–]\s?|\sto\s|\sand\s)(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%]|\w))?(?:(,?)\s(\d{{4}})(?!\d|[.,]\d))?"
)
DAY_MONTH = re.compile(
    rf"(?<![\w.:,/$€£-])(the\s)?(\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?({_MONTH})(?!\w)(?:(,?)\s(\d{{4}})(?!\d|[.,]\d))?"
)
_ABOUT_A_DAY = (
    "[Oo]n|[Bb]y|[Uu]ntil|[Tt]ill|[Ss]ince|[Bb]efore|[Aa]fter|[Dd]ue|[Dd]ated?|[Ff]rom|[Tt]hrough|"
    "[Dd]eadline(?: is|:)?"
)
_MD = r"(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01])"
SLASHED_DAY = re.compile(
    rf"(\b(?:{_ABOUT_A_DAY})\s(?:the\s)?){_MD}(?![\w/%]|\.\d|\sof\b)"
    rf"(?:(\s?(?:[-–]|to|and|or|through)\s?){_MD}(?![\w/%]|\.\d))?"
)
WEEKDAY = re.compile(
    r"\b(?:(?:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun)\.(?=,|\s+[A-Z\d]|\s*[-–/]|\s*\Z)|(?:Tues?|Thurs?|Thu|Fri)(?![\w'’.-])"
    r"|(?:Mon|Wed|Sat|Sun)(?=,\s*\Z|,?\s(?:\d|[A-Z][a-z]{2}\.?\s\d)|\s?[-–/]\s?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)))"
    r"|(?:(?<=[-–/])|(?<=\bon )|(?<=\bby )|(?<=very )|(?<=losed )|(?<=next )|(?<=last )|(?<=this )|(?<=ntil ))(?:Mon|Wed|Sat|Sun)\b"
)
DAYS_TO = re.compile(
    r"(?<=[nseurit]day)\s?[-–—]\s?(?=(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b)"
    rf"|(?<=[a-z])\s[-–—]\s(?=(?:{'|'.join(MONTHS)})\b)|(?<=\b[AP] M)\s?[-–—]\s?(?=[a-z])"
)
MONTH_NAME = re.compile(
    r"\b(Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?:\.(?=\s*[\w,])|(?=\s?[-–]\s?[A-Z][a-z]{2}\b))"
)
_DAYS = {"Mo": "Monday", "Tu": "Tuesday", "We": "Wednesday", "Th": "Thursday", "Fr": "Friday", "Sa": "Saturday", "Su": "Sunday"}  # fmt: skip
MONTH_YEAR = re.compile(rf"\b({_MONTH}),?\s(\d{{4}})(?!\d|[.,]\d)")
_LAST_HOUR, _LAST_MINUTE, _NOON, _TEN = 24, 59, 12, 10
_LAST_MONTH, _LAST_DAY, _THIS_CENTURY = 12, 31, 50


def month(written: str) -> str:
    """``Sept.``: September."""
    return _SHORT[written[:3].lower()]


def say_clock(found: re.Match[str]) -> str | None:
    """``12:45PM``: twelve forty five P M; ``3:2`` is no time."""
    hour, minute, second, half, ish = found.groups()
    before = found.string[max(0, found.start() - 24) : found.start()].lower()
    if re.search(r"\b(?:ratio|score[ds]?|odds|aspect)\b[^.]*$", before):
        return f"{cardinal(int(hour))} to {cardinal(int(minute))}"
    if second and _runs(before):
        parts = ((hour, "hour"), (minute, "minute"), (second, "second"))
        return " ".join(
            f"{cardinal(int(many))} {unit}{'' if int(many) == 1 else 's'}" for many, unit in parts
        )
    if not (second or half) and int(hour) > _LAST_HOUR and _TEN <= int(minute) <= _LAST_MINUTE:
        return f"{cardinal(int(hour))} {cardinal(int(minute))}" if _runs(before) else None
    said = _clock(hour, minute, second, half)
    return f"{said} ish" if said and ish else said


def _runs(before: str) -> bool:
    """Whether minutes and seconds are meant: ``in 25:30``."""
    return bool(re.search(r"\b(?:in|took|time|of|finished|lasts?|record|clocked|at)\s*$", before))


def say_stamp(found: re.Match[str]) -> str | None:
    """``T10:30:00Z`` behind a date: ten thirty UTC."""
    said = _clock(found[1], found[2], found[3], None)
    return f" {said}{' UTC' if found[4] == 'Z' else ''}" if said else None


def say_compact(found: re.Match[str]) -> str | None:
    """``20240115``: January fifteenth, twenty twenty four."""
    return _date(found[1], int(found[2]), int(found[3]))


def say_lasted(found: re.Match[str]) -> str:
    """``2h30``, ``1h 30m``: two hours thirty minutes."""
    hours, minutes = int(found[1]), int(found[2])
    return (
        f"{cardinal(hours)} hour{'' if hours == 1 else 's'} "
        f"{cardinal(minutes)} minute{'' if minutes == 1 else 's'}"
    )


def say_slashed_day(found: re.Match[str]) -> str:
    """``on 12/25``: December twenty fifth."""
    said = f"{found[1]}{_day(found[2], found[3])}"
    if not found[4]:
        return said
    between = found[4].strip()
    return f"{said} {'to' if between in {'-', '–'} else between} {_day(found[5], found[6])}"


def _day(month_number: str, day: str) -> str:
    return f"{MONTHS[int(month_number) - 1]} {ordinal(int(day))}"


def say_weekday(found: re.Match[str]) -> str:
    """``Tues.``: Tuesday."""
    ends = found.group().endswith(".") and found.end() == len(found.string)
    return _DAYS[found.group()[:2]] + ("." if ends else "")


def say_month(found: re.Match[str]) -> str:
    """``Aug.``: August."""
    return month(found[1])


def say_clock_range(found: re.Match[str]) -> str | None:
    """``9:00-10:00``: nine o'clock to ten o'clock."""
    begin, end = _clock(*found.groups()[:4]), _clock(*found.groups()[4:])
    return f"{begin} to {end}" if begin and end else None


def say_hour(found: re.Match[str]) -> str | None:
    """``9am``: nine A M."""
    return _clock(found[1], "00", None, found[2])


def say_hour_range(found: re.Match[str]) -> str | None:
    """``9-5pm``, ``9:30-10am``: nine thirty to ten A M."""
    begin = cardinal(int(found[1])) + (f" {_minutes(found[2])}" if int(found[2] or 0) else "")
    begin += f" {found[3].upper()} M" if found[3] else ""
    end = _clock(found[4], "00", None, found[5])
    return f"{begin} to {end}" if end and int(found[1]) <= _LAST_HOUR else None


def _minutes(written: str) -> str:
    return f"{'oh ' if int(written) < _TEN else ''}{cardinal(int(written))}"


def _clock(hour: str, minute: str, second: str | None, half: str | None) -> str | None:
    if int(hour) > _LAST_HOUR or int(minute) > _LAST_MINUTE or int(second or 0) > _LAST_MINUTE:
        return None
    if not (int(hour) or int(minute) or int(second or 0) or half):
        return "midnight"
    said = cardinal(int(hour))
    if int(minute):
        said += f" {_minutes(minute)}"
    elif not half and not int(second or 0):
        said += " o'clock" if 0 < int(hour) <= _NOON else " hundred"
    if second and int(second):
        said += f" and {cardinal(int(second))} second{'' if int(second) == 1 else 's'}"
    return said + (f" {half.upper()} M" if half else "")


def say_iso(found: re.Match[str]) -> str | None:
    """``2026-03-18``: March eighteenth, twenty twenty six."""
    date = _date(found[1], int(found[3]), int(found[4]))
    return f"{date}, " if date and found[5] else date


def say_slashed(found: re.Match[str]) -> str | None:
    """``03/18/2026``, and ``18/03/2026`` or ``18.03.2026`` where the month tells itself."""
    first, last, written = int(found[1]), int(found[3]), found[4]
    if found[2] != "/" and len(written) == 2:
        return None
    if len(written) == 2:
        written = ("20" if int(written) < _THIS_CENTURY else "19") + written
    day_first = first > _LAST_MONTH or found[2] == "."
    return _date(written, last, first) if day_first else _date(written, first, last)


def _date(written: str, month_number: int, day: int) -> str | None:
    if not (1 <= month_number <= _LAST_MONTH and 1 <= day <= _LAST_DAY):
        return None
    return f"{MONTHS[month_number - 1]} {ordinal(day)}, {year(int(written))}"


def say_month_day(found: re.Match[str]) -> str | None:
    """``May 4, 1987``: May fourth, nineteen eighty seven."""
    name, day, dash, until, comma, written = found.groups()
    if not 1 <= int(day) <= _LAST_DAY or (until and not 1 <= int(until) <= _LAST_DAY):
        return None
    said = f"{month(name)} {ordinal(int(day))}"
    if until:
        said += f" {'and' if 'and' in dash else 'to'} {ordinal(int(until))}"
    return said + (f"{comma} {year(int(written))}" if written else "")


def say_day_month(found: re.Match[str]) -> str | None:
    """``18 March 2026``: the eighteenth of March twenty twenty six."""
    _, day, name, comma, written = found.groups()
    if not 1 <= int(day) <= _LAST_DAY:
        return None
    the = found[1] or "the "
    return f"{the}{ordinal(int(day))} of {month(name)}" + (
        f"{comma} {year(int(written))}" if written else ""
    )


def say_month_year(found: re.Match[str]) -> str:
    """``March 2026``."""
    return f"{month(found[1])} {year(int(found[2]))}"


def _decade(found: re.Match[str]) -> str:
    written = found[1]
    return plural(year(int(written)) if len(written) == 4 else cardinal(int(written)))


def _hyphened(found: re.Match[str]) -> str:
    """``pre-1950``."""
    return f"{found[1]}-{year(int(found[2]))}"


def _many(found: re.Match[str]) -> str:
    """``100s of``: hundreds of."""
    return plural(cardinal(int(found[1].replace(",", "")))).removeprefix("one ")


def _season(found: re.Match[str]) -> str | None:
    """``2023/24``."""
    if (int(found[1]) + 1) % 100 != int(found[2]):
        return None
    return f"{year(int(found[1]))} to {cardinal(int(found[2]))}"


def _fiscal(found: re.Match[str]) -> str:
    """``FY2024``, ``Q1'25``."""
    written = found[2]
    said = year(int(written)) if len(written) == 4 else cardinal(int(written))
    return f"{found[1]} {said}"


DECADES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"(?<![\w.,$€£])['’]?(\d{3}0|[2-9]0)['’]?s\b(?!\sof\b)"), _decade),
    (re.compile(r"(?<=ies)\s?[-–—]\s?(?=[a-z]+ies\b)"), " to "),
    (re.compile(r"\b(pre|post|mid|early|late|pre-|post-)-(\d{4})(?![\w-])"), _hyphened),
    (re.compile(r"(?<![\w.,$€£])(1(?:0{1,3}|,000))s(?=\sof\b)"), _many),
)
"""Before money, which may end in an s too."""
RULES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (STAMP, say_stamp),
    (ISO, say_iso),
    (COMPACT, say_compact),
    (CLOCK_RANGE, say_clock_range),
    (HOUR_RANGE, say_hour_range),
    (CLOCK, say_clock),
    (HOUR, say_hour),
    (LASTED, say_lasted),
    (SLASHED, say_slashed),
    (SLASHED_DAY, say_slashed_day),
    (WEEKDAY, say_weekday),
    (MONTH_DAY, say_month_day),
    (DAY_MONTH, say_day_month),
    (MONTH_YEAR, say_month_year),
    (MONTH_NAME, say_month),
    (DAYS_TO, " to "),
    (re.compile(r"(?<![\w/])((?:19|20)\d{2})/(\d{2})(?![\w/]|\.\d)"), _season),
    (re.compile(r"\b(FY|CY|[QH][1-4])\s?['’]?((?<=[FC]Y)(?:20)?\d{2}|(?<=['’])\d{2})\b"), _fiscal),
)
