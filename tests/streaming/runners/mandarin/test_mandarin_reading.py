"""Which reading a character has, beside which others."""

import pytest

pytest.importorskip("rjieba", reason="the Mandarin voice is not there: make setup-mandarin")

from pypinyin.contrib.tone_convert import to_tone3
from pypinyin.pinyin_dict import pinyin_dict

from streaming.errors import UnsupportedLanguage
from streaming.runners.mandarin.ipa import to_ipa
from streaming.runners.mandarin.kokoro import VOCABULARY_SHA256, _file
from streaming.runners.mandarin.reading import read
from streaming.runners.mandarin.syllable import parse


def pinyin(text):
    """The words' syllables in a spelling close to pinyin's; an r that has grown is an ``r``."""
    return " ".join(
        syllable.initial + syllable.final + str(syllable.tone) + "r" * syllable.rhotic
        for word in read(text)
        for syllable in word.syllables
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("银行", "in2 hang2"),
        ("行走", "xing2 zou3"),
        ("银行行长", "in2 hang2 hang2 zhang3"),
        ("重要", "zhong4 iao4"),
        ("重复", "chong2 fu4"),
        ("重新来", "chong2 xin1 lai2"),
        ("长大", "zhang3 da4"),
        ("长短", "chang2 duan3"),
        ("头发很长", "tou2 fa5 hen3 chang2"),
        ("头发长了", "tou2 fa5 chang2 le5"),
        ("还有", "hai2 iou3"),
        ("还书", "huan2 shu1"),
        ("他还了钱", "ta1 huan2 le5 qian2"),
        ("音乐", "in1 üe4"),
        ("快乐", "kuai4 le4"),
        ("睡着了", "shuei4 zhao2 le5"),
        ("拿着书", "na2 zhe5 shu1"),
        ("了解", "liao3 jie3"),
        ("受不了", "shou4 bu4 liao3"),
        ("我得走了", "uo3 dei3 zou3 le5"),
        ("跑得快", "pao3 de5 kuai4"),
        ("得到", "de2 dao4"),
        ("看得到", "kan4 de5 dao4"),
        ("慢慢地走", "man4 man4 de5 zou3"),
        ("在工地上", "zai4 gong1 di4 shang4"),
        ("这个地方", "zhe4 ge5 di4 fang5"),
        ("数据", "shu4 jü4"),
        ("数了好几遍", "shu3 le5 hao3 ji3 bian4"),
        ("一只猫", "i1 zhi1 mao1"),
        ("只有", "zhi3 iou3"),
        ("种树", "zhong4 shu4"),
        ("这种", "zhe4 zhong3"),
        ("教我数学", "jiao1 uo3 shu4 xüe2"),
        ("为了大家", "uei4 le5 da4 jia1"),
        ("变为", "bian4 uei2"),
        ("曾国藩", "zeng1 guo2 fan1"),
        ("曾经", "ceng2 jing1"),
        ("没有", "mei2 iou3"),
        ("人人", "ren2 ren2"),
        ("人々", "ren2 ren2"),
    ],
)
def test_context_tells_the_reading(text, expected):
    assert pinyin(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("一会儿", "i1 huei4r"),
        ("花儿", "hua1r"),
        ("这儿", "zhe4r"),
        ("小孩儿玩儿", "xiao3 hai2r uan2r"),
        ("女儿", "nü3 er2"),
        ("儿子", "er2 zi5"),
        ("儿童", "er2 tong2"),
    ],
)
def test_er_grows_onto_a_syllable_or_is_one(text, expected):
    assert pinyin(text) == expected


@pytest.mark.parametrize("text", ["谢谢", "事情", "先生", "便宜", "妈妈"])
def test_light_syllables_are_light(text):
    assert pinyin(text).endswith("5")


def test_words_hold_all_of_the_text():
    text = "我们明天上午在公司门口见面"
    assert "".join(word.text for word in read(text)) == text


def test_a_character_without_a_reading_is_an_error():
    with pytest.raises(UnsupportedLanguage, match="㗎"):
        read("你㗎好")


def test_every_reading_in_the_dictionary_has_phonemes_the_model_knows():
    letters = set(_file("vocab.json", VOCABULARY_SHA256).decode())
    spellings = {
        to_tone3(reading, neutral_tone_with_five=True)
        for readings in pinyin_dict.values()
        for reading in readings.split(",")
    }
    assert len(spellings) > 1_400
    for spelling in spellings:
        assert set(to_ipa(parse(spelling))) <= letters, spelling
