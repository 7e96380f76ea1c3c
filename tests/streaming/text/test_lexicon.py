from streaming.config import LexiconLine, TextSettings
from streaming.messages import TextAppend, TextOpen, TextSegments
from streaming.segment import LexiconEntry, Pronunciation, Segment
from streaming.text.frontend import FrontEnd
from streaming.text.normal.lexicon import Lexicon, layered
from streaming.text.normal.normaliser import Normaliser


def entry(text, say="", **phones):
    return LexiconEntry(text=text, say=say, **phones)


def segment(text, language="en"):
    return Segment(
        index=0, text=text, source=text, char_start=0, char_end=len(text), ending="end",
        language=language,
    )  # fmt: skip


def spoken(text, *entries, language="en"):
    return Normaliser((), Lexicon(entries)).speak(segment(text, language)).text


class TestMatching:
    def test_latin_words_match_whole_and_as_written(self):
        gif = entry("GIF", "jif")
        assert spoken("A GIF, GIFs, gif and GIF's.", gif) == "A jif, GIFs, gif and jif's."

    def test_chinese_matches_anywhere(self):
        assert spoken("重庆火锅很好", entry("重庆", "崇庆"), language="zh") == "崇庆火锅很好"

    def test_latin_in_chinese_needs_no_blanks(self):
        assert spoken("发GIF图", entry("GIF", "动"), language="zh") == "发动图"

    def test_the_longest_wins(self):
        entries = [entry("New", "N"), entry("New York", "Big Apple")]
        assert spoken("New York is New.", *entries) == "Big Apple is N."

    def test_no_other_rule_touches_what_is_put_in_or_what_it_stands_for(self):
        assert (
            spoken("Take the 2B or C4.", entry("2B", "too-bee #2"))
            == "Take the too-bee #2 or C four."
        )

    def test_marks_in_the_text_mean_themselves(self):
        assert spoken("Is it C++ (beta)?", entry("C++ (beta)", "see")) == "Is it see?"

    def test_words_after_it_keep_their_place(self):
        made = Normaliser((), Lexicon([entry("GIF", "moving picture")])).speak(
            segment("One GIF at 9.")
        )
        nine = made.spans[-2]
        assert made.text[nine.begin : nine.end] == "nine"
        assert made.source[nine.source_begin : nine.source_end] == "9"


class TestLevels:
    def test_later_levels_win(self):
        levels = ((entry("a", "server"), entry("b", "server")), (entry("a", "voice"),), ())
        assert Normaliser((), layered(*levels)).speak(segment("a b")).text == "voice server"

    def test_server_voice_and_context_in_that_order(self):
        lines = (
            LexiconLine(text="GIF", say="server"),
            LexiconLine(text="GIF", say="voice", voice="heart"),
            LexiconLine(text="PNG", say="server"),
        )
        front = FrontEnd(TextSettings(lexicon=lines))
        front.handle(TextOpen(ctx=1, voice="heart"), 0.0)
        front.handle(TextOpen(ctx=2, voice="other"), 0.0)
        front.handle(TextOpen(ctx=3, voice="heart", lexicon=(entry("GIF", "context"),)), 0.0)
        said = []
        for ctx in (1, 2, 3):
            (answer,) = front.handle(TextAppend(ctx=ctx, delta="GIF and PNG. "), 0.0)
            assert isinstance(answer, TextSegments)
            said.append(answer.segments[0].text)
        assert said == ["voice and server.", "server and server.", "context and server."]


class TestPhones:
    def test_go_along_with_their_place_in_the_words(self):
        lexicon = Lexicon(
            [entry("GIF", "moving", arpabet="JH IH1 F"), entry("重庆", pinyin="chóng qìng")]
        )
        made = Normaliser((), lexicon).speak(segment("5 GIF", "en"))
        assert made.pronunciations == (Pronunciation(5, 11, "arpabet", "JH IH1 F"),)
        assert made.text[5:11] == "moving"
        made = Normaliser((), lexicon).speak(segment("我在重庆。", "zh"))
        assert (made.text, made.pronunciations) == (
            "我在重庆。",
            (Pronunciation(2, 4, "pinyin", "chong2 qing4"),),
        )

    def test_pinyin_in_the_text_is_the_same_for_one_place(self):
        made = Normaliser().speak(segment("她很爱[h][ào]奇。", "zh"))
        assert made.text == "她很爱号奇。"
        assert made.pronunciations == (Pronunciation(3, 4, "pinyin", "hao4"),)

    def test_where_no_character_can_stand_for_it_the_letters_do(self):
        made = Normaliser(("en",)).speak(segment("Very [h][ào]qi.", "en"))
        assert made.text == "Very haoqi."

    def test_what_only_looks_like_pinyin_is_text(self):
        assert spoken("[zh][qqq] it", language="en") == "zh qqq it"

    def test_tones_are_digits_also_beside_words_to_say(self):
        made = Normaliser((), Lexicon([entry("重庆", "崇庆", pinyin="chóng qìng")])).speak(
            segment("重庆", "zh")
        )
        assert made.pronunciations == (Pronunciation(0, 2, "pinyin", "chong2 qing4"),)


class TestPhonesInTheText:
    """As CosyVoice's users write them: ``她[h][ào]干净``, ``[M][AY0][N][UW1][T]``."""

    def said(self, text, *voice_languages, language="en"):
        made = Normaliser(voice_languages).speak(segment(text, language))
        phones = [
            (made.text[each.begin : each.end].strip(), each.alphabet, each.phones)
            for each in made.pronunciations
        ]
        return made.text, phones

    def test_arpabet_goes_along_and_is_respelled_for_those_who_read_letters(self):
        text, phones = self.said("A [M][AY0][N][UW1][T] detail.")
        assert text == "A mynoot detail."
        assert phones == [("mynoot", "arpabet", "M AY0 N UW1 T")]

    def test_both_alphabets_in_one_sentence(self):
        _, phones = self.said("她[h][ào]干净[M][AY0][N][UW1][T]。", language="zh")
        assert [each[1:] for each in phones] == [
            ("pinyin", "hao4"), ("arpabet", "M AY0 N UW1 T"),
        ]  # fmt: skip

    def test_letters_do_not_run_into_their_neighbours(self):
        text, phones = self.said("She[h][ǎo] said[T][EH1][S][T]s.", "en")
        assert text == "She hao said tests."
        assert [each[0] for each in phones] == ["hao", "test"]

    def test_what_is_in_brackets_otherwise_is_text(self):
        for text in (
            "See [T] and [B].",
            "The [A] team.",
            "[ER] is closed.",
            "[NG][T] are consonants.",
        ):
            assert self.said(text)[1] == []

    def test_pinyin_without_an_initial_is_readable_in_letters(self):
        text, phones = self.said("Say [ǖ] now.", "en")
        assert text == "Say yu now."
        assert phones == [("yu", "pinyin", "v1")]
