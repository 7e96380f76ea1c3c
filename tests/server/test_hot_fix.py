import pytest

from server import requests
from server.invalid import convert
from streaming.errors import InvalidValue
from streaming.segment import LEXICON_ENTRIES, LexiconEntry


def opened(lexicon):
    return convert({"type": "open", "lexicon": lexicon}, requests.Open).entries


def test_pronunciation_and_replacement_become_entries():
    fix = {"pronunciation": [{"天气": "tian1 qi4"}], "replace": [{"今天": "金天"}]}
    assert opened(fix) == (
        LexiconEntry(text="今天", say="金天"),
        LexiconEntry(text="天气", pinyin="tian1 qi4"),
    )


def test_a_word_in_both_is_replaced_and_read_so():
    fix = {"pronunciation": [{"重庆": "chong2 qing4"}], "replace": [{"重庆": "山城"}]}
    assert opened(fix) == (LexiconEntry(text="重庆", say="山城", pinyin="chong2 qing4"),)


def test_one_object_may_hold_several_words():
    assert len(opened({"replace": [{"a": "b", "c": "d"}]})) == 2


@pytest.mark.parametrize("nothing", [{}, {"replace": []}, {"pronunciation": [{}]}])
def test_nothing_in_it_is_an_empty_lexicon(nothing):
    assert opened(nothing) == ()


def test_our_own_form_stays_what_it_is():
    entry = {"text": "GIF", "say": "jif"}
    assert opened([entry]) == (LexiconEntry(**entry),)


@pytest.mark.parametrize(
    ("lexicon", "named"),
    [
        ({"pronunciation": [{"天气": "tian1 qqq4"}]}, "'qqq4' is no syllable of pinyin"),
        ({"replace": {"今天": "金天"}}, "lexicon.replace: expected `array`"),
        ({"replace": [{"今天": 5}]}, "lexicon.replace[0]"),
        ({"replace": [{"今天": ""}]}, "lexicon.replace[0]"),
        ({"replace": [{str(n): "x" for n in range(LEXICON_ENTRIES + 1)}]}, "at most 200 words"),
        ([{"text": "GIF", "arpabet": "JH IX"}], "'IX' is no ARPAbet sound"),
        ("GIF", "expected `object | array`"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(lexicon, named):
    with pytest.raises(InvalidValue) as refused:
        opened(lexicon)
    assert named in str(refused.value)
