"""Amounts of money in English.

Knows: currencies and how an amount of them is said. Does not know: sentences.
"""

from __future__ import annotations

import re

from streaming.text.normal.english_numbers import cardinal, is_one, number

NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d+)(?:\.\d+)?"
_SYMBOL = r"[$€£¥￥₹₩₽₿₺₫₴₪₦฿₱]|R\$"

_SIGNS = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "sen", "sen"),
    "￥": ("yuan", "yuan", "fen", "fen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "jeon", "jeon"),
    "₽": ("ruble", "rubles", "kopek", "kopeks"),
    "₿": ("bitcoin", "bitcoins", "satoshi", "satoshis"),
    "R$": ("real", "reais", "centavo", "centavos"),
    "₺": ("lira", "liras", "kurush", "kurush"),
    "₫": ("dong", "dong", "xu", "xu"),
    "₴": ("hryvnia", "hryvnias", "kopiyka", "kopiykas"),
    "₪": ("shekel", "shekels", "agora", "agoras"),
    "₦": ("naira", "naira", "kobo", "kobo"),
    "฿": ("baht", "baht", "satang", "satang"),
    "₱": ("peso", "pesos", "centavo", "centavos"),
    "zł": ("zloty", "zlotys", "grosz", "groszy"),
    "kr": ("krone", "kroner", "øre", "øre"),
    "CHF": ("Swiss franc", "Swiss francs", "centime", "centimes"),
}
_CODES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CNY": "￥", "RMB": "￥", "INR": "₹", "KRW": "₩", "CHF": "CHF", "BTC": "₿", "BRL": "R$", "TRY": "₺", "VND": "₫", "ILS": "₪", "THB": "฿", "PHP": "₱", "PLN": "zł"}  # fmt: skip
_NATIONS = {"US": "US ", "A": "Australian ", "C": "Canadian ", "CA": "Canadian ", "AU": "Australian ", "HK": "Hong Kong ", "NZ": "New Zealand ", "S": "Singapore ", "NT": "New Taiwan "}  # fmt: skip
_SCALES = {"k": "thousand", "m": "million", "mn": "million", "mm": "million", "b": "billion", "bn": "billion", "t": "trillion", "tn": "trillion"}  # fmt: skip

SCALE = r"(?:\s?(?:hundred|thousand|million|billion|trillion)\b|\s?(?:[kKmMbBtT]|bn|mn|tn|Bn|Mn)\b)"
_CODE = "|".join(_CODES)
MONEY = re.compile(
    rf"(?<![\w.,])([-−+])?(?:\b(US|AU?|CA?|HK|NZ|S|NT))?({_SYMBOL}|(?:{_CODE}|kr|zł)\s)\s?([-−]?(?:{NUMBER}|\.\d+))({SCALE})?"
    rf"(?:\s?(?:[-–—]|to)\s?(?:{_SYMBOL})?({NUMBER})({SCALE})?)?(?![\d])(?:[-\s](?:dollar|euro|pound|yen|rupee)s?\b)?(?:/(\w{{1,12}}))?"
)
TRAILING = re.compile(
    rf"(?<![\w.,])([-−+])?({NUMBER})({SCALE})?\s?({_SYMBOL}|(?:{_CODE}|kr|zł)\b)(?!\d)"
)
CENTS = re.compile(rf"(?<![\w.,])({NUMBER})\s?¢")
_PER = {"mo": "month", "yr": "year", "hr": "hour", "wk": "week", "min": "minute", "h": "hour", "kg": "kilogram", "lb": "pound", "oz": "ounce", "L": "liter", "GB": "gigabyte", "kWh": "kilowatt hour", "sqft": "square foot", "gal": "gallon", "ft": "foot", "mi": "mile", "km": "kilometer", "m": "month", "d": "day", "y": "year"}  # fmt: skip
_CENT_DIGITS = 2
_WITHOUT_CENTS = frozenset({"yen", "won", "dong", "bitcoin"})


def say_money(found: re.Match[str]) -> str | None:
    """An amount with its sign before it, perhaps a range, perhaps per something."""
    sign, nation, symbol, low, scale, high, high_scale, per = found.groups()
    symbol = symbol.strip()
    nation = _NATIONS.get(nation or "", "")
    minus = {"-": "minus ", "−": "minus ", "+": "plus "}.get(sign or "", "")
    if high:
        before = _scaled(low, scale) if scale != high_scale or scale is None else number(low)
        said = f"{before} to {_amount(high, high_scale, symbol, nation)}"
    else:
        said = _amount(low, scale, symbol, nation)
    return minus + said + (f" per {_PER.get(per, per)}" if per else "")


def say_trailing(found: re.Match[str]) -> str:
    """An amount with its sign or code behind it."""
    sign, value, scale, symbol = found.groups()
    return _amount((sign or "") + value, scale, symbol, "")


def say_cents(found: re.Match[str]) -> str:
    """``99¢``."""
    return f"{number(found[1])} {'cent' if is_one(found[1]) else 'cents'}"


def _scaled(value: str, scale: str | None) -> str:
    word = _scale(scale)
    return f"{number(value)} {word}" if word else number(value)


def _scale(scale: str | None) -> str:
    word = (scale or "").strip()
    return _SCALES.get(word.lower(), word)


def _amount(value: str, scale: str | None, symbol: str, nation: str) -> str:
    one, many, cent, cents = _SIGNS[_CODES.get(symbol, symbol)]
    if word := _scale(scale):
        return f"{number(value)} {word} {nation}{many}"
    whole, point, rest = value.partition(".")
    if not point or not rest.strip("0"):
        return f"{number(whole)} {nation}{one if is_one(whole) else many}"
    if len(rest) != _CENT_DIGITS or one in _WITHOUT_CENTS:
        return f"{number(value)} {nation}{many}"
    small = f"{cardinal(int(rest))} {cent if rest == '01' else cents}"
    if not whole.strip("+-−0,"):
        return ("minus " if whole[:1] in {"-", "−"} else "") + small
    return f"{number(whole)} {nation}{one if is_one(whole) else many} and {small}"
