"""Units of measure in English: what follows a number is read as the unit it is.

Knows: symbols and their names. Does not know: numbers, sentences.
"""

from __future__ import annotations

import re

_UNITS = {
    "km": "kilometer", "m": "meter", "cm": "centimeter", "mm": "millimeter", "µm": "micrometer",
    "μm": "micrometer", "nm": "nanometer", "mi": "mile", "ft": "foot", "yd": "yard", "yds": "yard",
    "kg": "kilogram", "g": "gram", "mg": "milligram", "µg": "microgram", "μg": "microgram",
    "lb": "pound", "lbs": "pound", "oz": "ounce", "t": "ton",
    "L": "liter", "l": "liter", "ml": "milliliter", "mL": "milliliter", "dl": "deciliter", "cl": "centiliter",
    "dL": "deciliter", "mmol": "millimole", "mmHg": "millimeter of mercury", "IU": "international unit", "bpm": "beat per minute", "DPI": "dot per inch", "dpi": "dot per inch",
    "gal": "gallon", "tsp": "teaspoon", "tbsp": "tablespoon",
    "h": "hour", "hr": "hour", "hrs": "hour", "min": "minute", "mins": "minute", "s": "second",
    "sec": "second", "secs": "second", "ms": "millisecond", "µs": "microsecond", "μs": "microsecond", "ns": "nanosecond",
    "Hz": "hertz", "kHz": "kilohertz", "KHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
    "W": "watt", "kW": "kilowatt", "MW": "megawatt", "GW": "gigawatt", "Wh": "watt hour", "kWh": "kilowatt hour", "MWh": "megawatt hour",
    "V": "volt", "kV": "kilovolt", "mV": "millivolt", "A": "amp", "mA": "milliamp", "mAh": "milliamp hour", "Ω": "ohm",
    "J": "joule", "kJ": "kilojoule", "cal": "calorie", "kcal": "kilocalorie", "N": "newton", "Nm": "newton meter",
    "Pa": "pascal", "kPa": "kilopascal", "hPa": "hectopascal", "MPa": "megapascal", "bar": "bar",
    "bit": "bit", "kB": "kilobyte", "KB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte", "PB": "petabyte",
    "KiB": "kibibyte", "MiB": "mebibyte", "GiB": "gibibyte", "TiB": "tebibyte",
    "kbps": "kilobit per second", "Kbps": "kilobit per second", "Mbps": "megabit per second", "Gbps": "gigabit per second",
    "mph": "mile per hour", "kph": "kilometer per hour", "kmh": "kilometer per hour", "mpg": "mile per gallon", "fps": "frame per second", "rpm": "revolution per minute",
    "dB": "decibel", "px": "pixel", "pt": "point", "pts": "point", "ppm": "part per million", "mol": "mole", "ha": "hectare", "hp": "horsepower", "acre": "acre",
    "sq ft": "square foot", "sqft": "square foot", "sq m": "square meter", "sq mi": "square mile", "sq km": "square kilometer", "sq. ft.": "square foot", "cc": "cubic centimeter", "°": "degree", "°C": "degree Celsius", "°F": "degree Fahrenheit", "℃": "degree Celsius", "℉": "degree Fahrenheit", "K": "kelvin",
    "ºC": "degree Celsius", "ºF": "degree Fahrenheit",
    "day": "day", "month": "month", "year": "year", "hour": "hour", "minute": "minute", "second": "second", "week": "week", "person": "person", "yr": "year", "wk": "week", "mo": "month",
}  # fmt: skip
_LONG_WORDS = frozenset(
    {"day", "month", "year", "hour", "minute", "second", "week", "person", "K", "yr", "wk", "mo"}
)
_POWERS = {"²": "square ", "2": "square ", "^2": "square ", "³": "cubic ", "3": "cubic ", "^3": "cubic "}  # fmt: skip
_SAME = frozenset({"hertz", "kilohertz", "megahertz", "gigahertz", "horsepower"})

_ONE = "|".join(
    re.escape(unit) for unit in sorted(set(_UNITS) - _LONG_WORDS, key=len, reverse=True)
)
_BELOW = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_POWER = r"(?:[²³]|\^[23]|(?<=m)[23])?"
UNIT = rf"(?:{_ONE}){_POWER}(?:(?:/|·|⋅|\*|\bper\b)(?:{_BELOW}){_POWER}){{0,3}}(?![\w²³°])"
"""A unit and what it is divided by; no more than three of those."""

RATE = rf"(?:{_BELOW})(?![\w²³°/])"
"""A unit that a plain number is for: 8/day."""
SPELT = rf"(?:{_ONE})(?![\w²³°/])"
"""A unit alone, as it stands behind a fraction: 3/4 kg."""

_PART = re.compile(rf"({_BELOW})(\^?[23²³])?(?=[/·⋅*]|\Z)")


def name(unit: str, *, one: bool) -> str:
    """``km/h``: kilometers per hour; ``one``: what is counted is one."""
    first, *below = re.split("[/]", unit)
    said = " ".join(
        _part(part, one=one or index > 0) for index, part in enumerate(re.split("[·⋅*]", first))
    )
    return " per ".join([said, *(_below(part) for part in below)])


def part_of(unit: str) -> str:
    """Behind a fraction: ``kg`` is "of a kilogram", ``oz`` "of an ounce"."""
    word = _part(unit, one=True)
    return f"of {'an' if word[0] in 'aeio' or word.startswith('hour') else 'a'} {word}"


def _below(unit: str) -> str:
    """What is divided by: ``s²`` is second squared, ``m²`` square meter."""
    found = _PART.match(unit)
    if found is not None and found[2] and _UNITS[found[1]] in {"second", "minute", "hour"}:
        return f"{_UNITS[found[1]]} {'squared' if found[2].endswith(('2', '²')) else 'cubed'}"
    return _part(unit, one=True)


def _part(unit: str, *, one: bool) -> str:
    found = _PART.match(unit)
    assert found is not None, "the pattern took only what is known"
    word = _UNITS[found[1]]
    return _POWERS.get(found[2] or "", "") + (word if one else _plural(word))


def _plural(word: str) -> str:
    between = next((each for each in (" per ", " of ") if each in word), " C")
    first, blank, rest = word.partition(between)
    if word.startswith("degree"):
        return word.replace("degree", "degrees", 1)
    if first.endswith("foot"):
        first = f"{first[:-4]}feet"
    elif first not in _SAME:
        first += "s"
    return first + blank + rest
