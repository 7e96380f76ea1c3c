"""Times of day and dates in English.

Knows: how they are written and said. Does not know: sentences.
"""

from __future__ import annotations

import re

from streaming.text.normal.english_numbers import cardinal, ordinal, year

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
_HALF = r"(?:\s?([AaPp])(?:\.\s?[Mm]\b(?:\.(?=\s*[\w,;:)(—-]))?|[Mm]\b))"
_CLOCK = rf"(\d{{1,2}}):(\d{{2}})(?::(\d{{2}}))?(?!\d|:\d){_HALF}?"

CLOCK_RANGE = re.compile(rf"(?<![\w.:]){_CLOCK}\s?(?:[-–—~～]|to)\s?{_CLOCK}(?![\w%])")
CLOCK = re.compile(rf"(?<![\w.:,]){_CLOCK}(?!(?!ish\b)[\w%])")
HOUR_RANGE = re.compile(rf"(?<![\w.:])(\d{{1,2}}){_HALF}?\s?[-–—]\s?(\d{{1,2}}){_HALF}(?!\w)")
HOUR = re.compile(rf"(?<![\w.:$€£,])(\d{{1,2}}){_HALF}(?!\w)")
ISO = re.compile(r"(?<![\w./-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:(T)(?=\d)|(?![\w/-]|\.\d))")
SLASHED = re.compile(r"(?<![\w./-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|\.\d)")
MONTH_DAY = re.compile(
    rf"\b({_MONTH})\s(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%.]\d|\d|\w)(?:(\s?[-–]\s?|\sto\s|\sand\s)(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%]|\w))?(?:(,?)\s(\d{{4}})(?!\d|[.,]\d))?"
)
DAY_MONTH = re.compile(
    rf"(?<![\w.:,/$€£-])(the\s)?(\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?({_MONTH})\b(?:(,?)\s(\d{{4}})(?!\d|[.,]\d))?"
)
MONTH_YEAR = re.compile(rf"\b({_MONTH}),?\s(\d{{4}})(?!\d|[.,]\d)")
_LAST_HOUR, _LAST_MINUTE, _NOON, _TEN = 24, 59, 12, 10
_LAST_MONTH, _LAST_DAY, _THIS_CENTURY = 12, 31, 50


def month(written: str) -> str:
    """``Sept.``: September."""
    return _SHORT[written[:3].lower()]


def say_clock(found: re.Match[str]) -> str | None:
    """``12:45PM``: twelve forty five P M; ``3:2`` is no time."""
    hour, minute, second, half = found.groups()
    before = found.string[max(0, found.start() - 24) : found.start()].lower()
    if re.search(r"\b(?:ratio|score[ds]?|odds|aspect)\b[^.]*$", before):
        return f"{cardinal(int(hour))} to {cardinal(int(minute))}"
    return _clock(hour, minute, second, half)


def say_clock_range(found: re.Match[str]) -> str | None:
    """``9:00-10:00``: nine o'clock to ten o'clock."""
    begin, end = _clock(*found.groups()[:4]), _clock(*found.groups()[4:])
    return f"{begin} to {end}" if begin and end else None


def say_hour(found: re.Match[str]) -> str | None:
    """``9am``: nine A M."""
    return _clock(found[1], "00", None, found[2])


def say_hour_range(found: re.Match[str]) -> str | None:
    """``9-5pm``, ``9am-5pm``: nine to five P M."""
    begin = cardinal(int(found[1])) + (f" {found[2].upper()} M" if found[2] else "")
    end = _clock(found[3], "00", None, found[4])
    return f"{begin} to {end}" if end and int(found[1]) <= _LAST_HOUR else None


def _clock(hour: str, minute: str, second: str | None, half: str | None) -> str | None:
    if int(hour) > _LAST_HOUR or int(minute) > _LAST_MINUTE or int(second or 0) > _LAST_MINUTE:
        return None
    said = cardinal(int(hour))
    if int(minute):
        said += f" {'oh ' if int(minute) < _TEN else ''}{cardinal(int(minute))}"
    elif not half and not second:
        said += " o'clock" if 0 < int(hour) <= _NOON else " hundred"
    if second:
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
