import pytest

from streaming.text.breaks import (
    Break,
    Place,
    best_break,
    breaks_between_words,
    breaks_graphemes,
    last_blank,
)
from streaming.text.verdict import Rank


def place(text, mark, rank=Rank.CLAUSE):
    return Place(text.index(mark) + 1, rank)


class TestBestBreak:
    def test_a_clause_mark_in_the_further_half_comes_first(self):
        text = "aaa bbb ccc, ddd eee fff"
        assert best_break(text, 0, 20, [place(text, ",")]) == Break(12, "clause")

    def test_then_a_weak_mark_there(self):
        text = "aaa bbb (ccc) ddd eee fff"
        assert best_break(text, 0, 20, [place(text, ")", Rank.WEAK)]) == Break(13, "forced")

    def test_then_white_space_there(self):
        text = "aaa, bbb ccc ddd eee fff"
        assert best_break(text, 0, 19, [place(text, ",")]) == Break(16, "forced")

    def test_then_whatever_is_before(self):
        text = "aaa " + "b" * 40
        assert best_break(text, 0, 30, []) == Break(3, "forced")
        text = "aaa,b" + "b" * 40
        assert best_break(text, 0, 30, [place(text, ",")]) == Break(4, "clause")

    def test_else_between_characters_that_stand_for_themselves(self):
        assert best_break("春夏秋冬abcdefgh", 0, 8, []).end == 4

    def test_else_at_the_limit(self):
        assert best_break("abcdefghij", 0, 5, []).end == 5

    def test_the_limit_itself_may_be_white_space(self):
        assert best_break("abcde fgh", 0, 5, []).end == 5


def test_the_last_blank_is_where_white_space_begins():
    assert last_blank("ab  cd  ef", 0, 9) == 6
    assert last_blank("ab  cd  ef", 0, 5) == 2
    assert last_blank("abcdef", 0, 5) is None


@pytest.mark.parametrize("text", ["春|夏", "春|a", "a|春", "か|な", "春|“夏"])
def test_unspaced_scripts_may_be_cut(text):
    assert breaks_between_words(text.replace("|", ""), text.index("|"))


@pytest.mark.parametrize("text", ["a|b", "1|2", "春|。", "春|”", "“|春", "き|ゃ", "カ|ー"])
def test_but_not_inside_a_word_nor_before_what_belongs_to_it(text):
    assert not breaks_between_words(text.replace("|", ""), text.index("|"))


@pytest.mark.parametrize(
    "text",
    [
        *("e|\u0301", "👍|🏽", "👨|\u200d👩", "👨\u200d|👩", "❤|\ufe0f"),
        *("🇩|🇪", "🇩🇪🇫|🇷", "1|\u20e3", "\r|\n", "ᄀ|ᅡ"),
    ],
)
def test_what_a_reader_sees_as_one_is_not_cut(text):
    assert not breaks_graphemes(text.replace("|", ""), text.index("|"))


@pytest.mark.parametrize("text", ["a|b", "👍|👍", "🇩🇪|🇫🇷", "é|e", "|a", "a|"])
def test_between_two_of_them_may_be_cut(text):
    assert breaks_graphemes(text.replace("|", ""), text.index("|"))
