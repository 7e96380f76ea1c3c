# ruff: noqa: RUF001 - the curly apostrophe is meant
import pytest

from streaming.text.abbreviations import begins_sentence, kind


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Mr", "never"),
        ("DR", "never"),
        ("e.g", "never"),
        ("I.E", "never"),
        ("No", "number"),
        ("Fig", "reference"),
        ("p.m", "ender"),
        ("I", "ender"),
        ("U.S", "open"),
        ("Ph.D", "open"),
        ("J", "open"),
        ("Inc", "open"),
        ("ö", "open"),
        ("word", None),
        ("MIN", None),
        ("sun", None),
        ("example.com", None),
        ("a.tar.gz", None),
        ("3", None),
        ("", None),
    ],
)
def test_kinds(word, expected):
    assert kind(word) == expected


@pytest.mark.parametrize(
    ("word", "after", "begins"),
    [
        ("The", "open", True),
        ("It’s", "open", True),
        ("Army", "open", False),
        ("the", "open", False),
        ("Bring", "ender", True),
        ("Tuesday", "ender", False),
        ("EST", "ender", False),
        ("", "ender", False),
    ],
)
def test_what_begins_a_sentence_after_one(word, after, begins):
    assert begins_sentence(word, after) is begins
