"""The tones of running speech, from words spelled in pinyin."""

import pytest

from streaming.runners.mandarin.sandhi import apply
from streaming.runners.mandarin.syllable import HanWord, parse


def spoken(*words):
    """Words as ``"不是 bu4 shi4"``, and the tones they are spoken in."""
    made = []
    for word in words:
        text, *pinyin = word.split()
        made.append(HanWord(text, tuple(parse(each) for each in pinyin)))
    return ["".join(str(syllable.tone) for syllable in word) for word in apply(made)]


@pytest.mark.parametrize(
    ("words", "tones"),
    [
        (["不是 bu4 shi4"], ["24"]),
        (["不 bu4", "对 dui4"], ["2", "4"]),
        (["不好 bu4 hao3"], ["43"]),
        (["不 bu4"], ["4"]),
    ],
)
def test_bu(words, tones):
    assert spoken(*words) == tones


@pytest.mark.parametrize(
    ("words", "tones"),
    [
        (["一个 yi1 ge4"], ["24"]),
        (["一 yi1", "样 yang4"], ["2", "4"]),
        (["一天 yi1 tian1"], ["41"]),
        (["一年 yi1 nian2"], ["42"]),
        (["一起 yi1 qi3"], ["43"]),
        (["第一 di4 yi1"], ["41"]),
        (["统一 tong3 yi1", "的 de5"], ["31", "5"]),
        (["十一 shi2 yi1"], ["21"]),
        (["一三八 yi1 san1 ba1"], ["111"]),
        (["一月 yi1 yue4"], ["14"]),
        (["一百 yi1 bai3"], ["43"]),
        (["百分之一 bai3 fen1 zhi1 yi1"], ["3111"]),
        (["看一看 kan4 yi1 kan4"], ["454"]),
    ],
)
def test_one(words, tones):
    assert spoken(*words) == tones


@pytest.mark.parametrize(
    ("words", "tones"),
    [
        (["你好 ni3 hao3"], ["23"]),
        (["我 wo3", "很 hen3", "好 hao3"], ["2", "2", "3"]),
        (["展览馆 zhan3 lan3 guan3"], ["223"]),
        (["我 wo3", "想 xiang3", "买 mai3", "雨伞 yu3 san3"], ["2", "3", "2", "23"]),
        (["小 xiao3", "老虎 lao3 hu3"], ["2", "23"]),
        (["我们 wo3 men5"], ["35"]),
        (["九百 jiu3 bai3", "五 wu3"], ["22", "3"]),
        (["你 ni3", "来 lai2"], ["3", "2"]),
    ],
)
def test_third_tones_in_a_row(words, tones):
    assert spoken(*words) == tones


def test_a_grown_r_has_no_tone_of_its_own():
    assert spoken("一会儿 yi1 hui4", "好 hao3") == ["24", "3"]
