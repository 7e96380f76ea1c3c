# ruff: noqa: RUF001 - letters that look like others are what this is about
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.runners.english import LONGEST_WORD_CHARS, Foreign, prepare, prepare_segment
from streaming.segment import Pronunciation, Segment

KNOWN = frozenset("éèñöüßæøőł²½µ")


def prepared(text):
    return " ".join(prepare(text, KNOWN).split())


@pytest.mark.parametrize(
    "text",
    [
        "Plain text, with: punctuation; (and) more!",
        "It costs $5, or €10.50 - 3% off.",
        "café, naïve? no: señor",
        "1,250 people and 123456789012 stars",
        "3.14159265358979323846",
        "5 µm at 20°C",
    ],
)
def test_what_the_voice_can_take_is_left_alone(text):
    kept = KNOWN | frozenset("ï")
    assert prepare(text, kept) == text


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Hi 😀👍🏽!", "Hi !"),
        ("a\u200db", "a b"),
        ("Çelik ǅ ŷ", "Celik Dz y"),
        ("Đorđe", "Dorde"),
        ("Ｈｅｌｌｏ，ｗｏｒｌｄ！", "Hello,world!"),
        ("𝐁𝐨𝐥𝐝", "Bold"),
        ("ﬁne", "fine"),
        ("e\u0301", "é"),
        ("Z̷a̸l̵g̶o̴", "Zalgo"),
        ("①②", "1 2"),
        ("٣٤ ५", "34 5"),
        ("⓷ ⅓", "3 1/3"),
        ("π r²", "pi r²"),
        ("20℃", "20°C"),
        ("“Yes。”", "“Yes.”"),
        ("tab\tnull\x00", "tab null"),
        ("$ and ￥", "dollars and yen"),
        ("[a](b)", "[a] (b)"),
    ],
)
def test_what_it_has_no_sound_for_is_put_in_its_words_or_dropped(text, spoken):
    assert prepared(text) == spoken


def test_a_number_beyond_its_words_is_read_digit_by_digit():
    assert prepared("1234567890123") == "1 2 3 4, 5 6 7 8, 9 0 1 2, 3"
    assert prepared("1,000,000,000,000,000") == "1 0 0 0, 0 0 0 0, 0 0 0 0, 0 0 0 0"


def test_a_word_beyond_its_spelling_is_broken_up():
    words = prepared("a" * 200).split()
    assert max(map(len, words)) == LONGEST_WORD_CHARS
    assert "".join(words) == "a" * 200


@pytest.mark.parametrize(
    ("text", "script", "language"),
    [
        ("你好", "Chinese characters", "zh"),
        ("Hello 世界", "Chinese characters", "zh"),
        ("カタカナ", "Japanese characters", "ja"),
        ("한국어", "Korean characters", "ko"),
        ("Привет", "Cyrillic letters", ""),
        ("مرحبا", "Arabic letters", ""),
        ("αβγ", "Greek letters", "el"),
    ],
)
def test_letters_of_another_script_are_named(text, script, language):
    with pytest.raises(Foreign) as found:
        prepare(text, KNOWN)
    assert (found.value.script, found.value.language) == (script, language)


@given(st.text(max_size=200))
def test_nothing_but_letters_digits_and_marks_comes_through(text):
    try:
        out = prepare(text, KNOWN)
    except Foreign:
        return
    written = re.sub(r"\(/[^/]*/\)", "", out)  # phones of our own, for single letters
    letters = {char for char in written if char.isalpha() and not char.isascii()}
    assert letters <= KNOWN | {"\u00b5"}
    assert out.isprintable()


class TestPhones:
    @staticmethod
    def segment(text, *said):
        return Segment(
            index=0, text=text, source=text, char_start=0, char_end=len(text), ending="end",
            pronunciations=said,
        )  # fmt: skip

    def test_stand_in_the_markup_of_the_voice(self):
        segment = self.segment("A GIF, yes.", Pronunciation(2, 5, "arpabet", "JH IH1 F"))
        assert prepare_segment(segment, KNOWN, british=False) == "A [word](/ʤˈɪf/), yes."

    def test_of_another_alphabet_are_left_alone(self):
        segment = self.segment("In Xian.", Pronunciation(3, 7, "pinyin", "xi1 an1"))
        assert prepare_segment(segment, KNOWN, british=False) == "In Xian."

    def test_make_letters_of_another_script_sayable(self):
        said = Pronunciation(0, 2, "arpabet", "N IY1 HH AW2")
        assert prepare_segment(self.segment("你好 all", said), KNOWN, british=True).endswith(" all")
        with pytest.raises(Foreign):
            prepare_segment(self.segment("你好 all"), KNOWN, british=True)


@pytest.mark.parametrize(
    ("text", "prepared"),
    [
        ("at nine A M sharp", "at nine [word](/ˈA/) M sharp"),
        ("A B test", "[word](/ˈA/) B test"),
        ("an F A Q", "an F [word](/ˈA/) Q"),
        ("A bird, a B-side", "A bird, a B-side"),
    ],
)
def test_a_letter_among_letters_is_no_article(text, prepared):
    assert prepare(text, KNOWN) == prepared
