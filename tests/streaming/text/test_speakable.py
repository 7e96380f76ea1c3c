# ruff: noqa: RUF001 - full-width marks are part of the texts
import time

import pytest

from streaming.text.speakable import guess_language, has_words, scripts, spoken_text


@pytest.mark.parametrize(
    "text", ["a", "好", "7", "７", "½", "%", "a + b", "=", "@", "é", "か", "ไทย", "①"]
)
def test_letters_digits_and_lone_symbols_are_spoken(text):
    assert has_words(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", " \n", "...", "……", "?!", "—", "( )", "🙂", "👨‍👩‍👧🇩🇪", "^_^", "~~", "***"),
        *("====", "=\u200b=", "&&", "\u200b"),
    ],
)
def test_marks_pictures_and_drawn_lines_are_not(text):
    assert not has_words(text)


class TestSpokenText:
    def test_white_space_is_folded(self):
        assert spoken_text("  one \n\t two\u3000three ") == "one two three"

    @pytest.mark.parametrize(
        ("source", "spoken"),
        [
            ("Great 🎉 news", "Great news"),
            ("Great 🎉🎉!", "Great!"),
            ("好的👍🏽，走吧👨‍👩‍👧。", "好的，走吧。"),
            ("I ❤️ tea", "I tea"),
            ("press 1️⃣ now", "press 1 now"),
            ("🏴\U000e0067\U000e0062\U000e007f wins", "wins"),
        ],
    )
    def test_emoji_go_whole(self, source, spoken):
        assert spoken_text(source) == spoken

    def test_invisible_marks_go_without_a_gap(self):
        assert spoken_text("co\u00adop\u200berate\ufeff") == "cooperate"

    def test_joiners_inside_words_stay(self):
        assert spoken_text("می\u200cخواهم") == "می\u200cخواهم"

    def test_marks_and_symbols_stay(self):
        assert spoken_text("Fine .. go ∯ ①, x≥2.") == "Fine .. go ∯ ①, x≥2."

    @pytest.mark.parametrize("emoji", ["😂", "❤️", "👩‍👩‍👧", "😂 "])
    def test_a_row_of_emoji_costs_what_its_length_costs(self, emoji):
        """With any part given back, one emoji more took twice as long: 30 of them an hour."""
        before_s = time.process_time()
        assert spoken_text(f"so {emoji * 24} funny") == "so funny"
        assert spoken_text(f"so funny {emoji * 24}!") == "so funny!"
        assert time.process_time() - before_s < 1.0


class TestScripts:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("Hello", {"latin"}),
            ("Größe", {"latin"}),
            ("ＡＢ", {"latin"}),
            ("你好々", {"han"}),
            ("明日はカー", {"han", "kana"}),
            ("ﾊﾛｰ", {"kana"}),
            ("안녕", {"hangul"}),
            ("привет", {"cyrillic"}),
            ("مرحبا", {"arabic"}),
            ("γεια", {"greek"}),
            ("用Node", {"han", "latin"}),
            ("12, 🎉。！", set()),
        ],
    )
    def test_are_told_by_letters(self, text, found):
        assert scripts(text) == found


class TestGuessLanguage:
    @pytest.mark.parametrize(
        ("text", "default", "language"),
        [
            ("你好", "", "zh"),
            ("你好", "en", "zh"),
            ("你好", "ja", "ja"),
            ("明日は晴れ", "zh", "ja"),
            ("안녕하세요", "", "ko"),
            ("Hello", "", "en"),
            ("Hello", "zh", "en"),
            ("Größe und Länge", "", "de"),
            ("Größe", "", "de"),
            ("Café Zoë", "", "en"),
            ("Größe und Länge", "de-AT", "de"),
            ("用Node.js写", "en", "zh"),
            ("привет", "", ""),
            ("привет", "en", ""),
            ("привет", "uk", "uk"),
            ("12.5", "", ""),
            ("12.5", "zh", "zh"),
        ],
    )
    def test_letters_decide_and_else_the_default(self, text, default, language):
        assert guess_language(text, default) == language
