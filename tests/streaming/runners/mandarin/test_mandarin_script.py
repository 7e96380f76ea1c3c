# ruff: noqa: RUF001 - full-width marks are meant
"""Text to words: Chinese, English, both, and what is neither."""

import pytest

pytest.importorskip("rjieba", reason="the Mandarin voice is not there: make setup-mandarin")

from streaming.errors import UnsupportedLanguage
from streaming.runners.english import Foreign
from streaming.runners.mandarin.script import Script
from streaming.segment import Pronunciation


@pytest.fixture(scope="module")
def script():
    return Script()


@pytest.fixture(scope="module")
def say(script):
    return lambda text, language="": " ".join(
        word.phonemes + word.mark for word in script.words(text, language)
    )


class TestChinese:
    def test_words_stand_apart_and_marks_behind_them(self, say):
        assert say("你好，世界！") == "ni↗xau↓, ʂɨ↘ʨje↘!"

    def test_of_several_marks_the_strongest_is_spoken(self, say):
        assert say("真的吗？！……好。").count("!") + say("真的吗？！……好。").count("?") == 1

    def test_marks_before_the_first_word_are_nothing(self, say):
        assert say("，。你好") == "ni↗xau↓"

    def test_tones_do_not_reach_over_a_mark(self, say):
        assert say("你，好") == "ni↓, xau↓"

    def test_a_kana_that_chinese_writers_borrow_is_read(self, say):
        assert say("鲜の每日") == say("鲜的每日")


class TestEnglish:
    def test_a_text_without_chinese_is_english_numbers_too(self, say):
        assert say("I have 2 cats.").startswith("ˌI hæv tˈu")

    def test_words_within_chinese_are_english(self, say):
        assert say("我用Python写程序") == "wo↓jʊ↘ŋ pˈIθˌɑn ɕje↓ ꭧʰə↗ŋɕy↘"

    @pytest.mark.parametrize(
        ("letters", "phonemes"), [("GPU", "ʤˌipˌijˈu"), ("API", "ˌApˌiˈI"), ("A", "ˈA")]
    )
    def test_letters_are_spelled(self, say, letters, phonemes):
        assert phonemes in say(f"这个{letters}很好")

    def test_wide_letters_and_digits_are_plain_ones(self, say):
        assert say("我用ＧＰＵ１") == say("我用GPU1")


class TestGuard:
    """What the text front end left as it was is read somehow, and never left out."""

    @pytest.mark.parametrize(
        ("text", "read"),
        [
            ("第5个", "第五个"),
            ("3.5米", "三点五米"),
            ("1,234元", "一二三四元"),
            ("增长8%", "增长八百分号"),
            ("你&我", "你和我"),
            ("30℃吧", "三零摄氏度吧"),
        ],
    )
    def test_digits_and_signs_are_read_one_by_one(self, say, text, read):
        assert say(text) == say(read)

    def test_a_number_alone_is_chinese_unless_the_text_is_english(self, say):
        assert say("2026", "zh") == say("二零二六")
        assert say("2026", "en") != say("2026", "zh")

    def test_two_hundred_digits_are_two_hundred_syllables(self, script):
        assert sum(word.beats for word in script.words("7" * 200)) == 200


class TestRefusals:
    @pytest.mark.parametrize("text", ["こんにちは你好", "Привет你好", "안녕"])
    def test_other_scripts_are_named(self, say, text):
        with pytest.raises(Foreign):
            say(text)

    def test_characters_without_a_reading_are_named(self, say):
        with pytest.raises(UnsupportedLanguage, match="㗎"):
            say("好㗎")

    @pytest.mark.parametrize("text", ["", "，。！", "——", "（）"])
    def test_marks_alone_are_no_words(self, script, text):
        assert script.words(text) == []


class TestPhonesThatWereGiven:
    @staticmethod
    def say_so(script, text, *said):
        return " ".join(word.phonemes + word.mark for word in script.words(text, "zh", said))

    def test_pinyin_wins_over_the_dictionary(self, script, say):
        given = Pronunciation(2, 4, "pinyin", "zhong4 qing4")
        assert self.say_so(script, "我在重庆。", given) == say("我在众庆。")
        assert say("我在重庆。") != say("我在众庆。")

    def test_takes_part_in_the_tones_of_its_row(self, script):
        given = Pronunciation(0, 1, "pinyin", "ni3")
        assert self.say_so(script, "号好", given).startswith("ni↗")

    def test_a_grown_r_and_a_light_tone_can_be_given(self, script, say):
        assert self.say_so(script, "花", Pronunciation(0, 1, "pinyin", "huar1")) == say("花儿")
        assert self.say_so(script, "妈", Pronunciation(0, 1, "pinyin", "ma0")) == say("吗")

    def test_arpabet_is_said_within_chinese_and_within_english(self, script):
        given = Pronunciation(1, 4, "arpabet", "JH IH1 F")
        assert self.say_so(script, "发GIF图。", given) == "fa→ ʤˈɪf tʰu↗."
        words = script.words("A GIF.", "en", (Pronunciation(2, 5, "arpabet", "JH IH1 F"),))
        assert [word.phonemes for word in words] == ["ɐ", "ʤˈɪf"]
