"""What may be said of a voice to be made, and what is doubted."""

import pytest

from streaming.errors import InvalidValue
from streaming.voices.draft import VoiceDraft, checked, doubts

GOOD = {"name": "Ana", "transcript": "Good morning.", "consent": "by mail", "language": "en"}


def draft(**changes):
    return VoiceDraft(**{**GOOD, **changes})


def test_blanks_around_and_within_are_tidied():
    tidy = checked(draft(name="  Ana ", transcript=" Good\r\n  morning. ", language=" "))
    assert tidy == draft(language="auto")


@pytest.mark.parametrize("name", ["小明", "Ana María", "../../etc/passwd", "x" * 100, "🙂"])
def test_a_name_is_anything_that_can_be_read(name):
    assert checked(draft(name=name)).name == name


@pytest.mark.parametrize("language", ["auto", "en", "zh-CN", "zh_Hant_TW", "yue"])
def test_a_language_is_a_tag(language):
    assert checked(draft(language=language)).language == language


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "\t"),
        ("name", "x" * 101),
        ("name", "a\0b"),
        ("name", "a\nb"),
        ("name", "\u202egnp.exe"),
        ("transcript", ""),
        ("transcript", "。。。"),
        ("transcript", "?!"),
        ("transcript", "word " * 201),
        ("consent", ""),
        ("consent", " "),
        ("consent", "x" * 1001),
        ("consent", "a\0b"),
        ("language", "english please"),
        ("language", "../en"),
        ("language", "e"),
    ],
)
def test_what_cannot_be_taken_is_named_with_what_can(field, value):
    with pytest.raises(InvalidValue, match=f"^{field}: "):
        checked(draft(**{field: value}))


@pytest.mark.parametrize(
    ("characters", "duration_ms", "doubted"),
    [(60, 4_000, False), (20, 5_000, False), (200, 3_000, True), (4, 10_000, True), (9, 0, True)],
)
def test_a_transcript_that_nobody_could_say_in_that_time_is_doubted(
    characters, duration_ms, doubted
):
    found = doubts(draft(transcript="x" * characters), duration_ms)
    assert bool(found) is doubted
    assert all(str(characters) in sentence for sentence in found)
