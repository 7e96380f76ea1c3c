import msgspec
import pytest

from streaming.phones import arpabet_fault, numbered, pinyin_fault
from streaming.segment import LexiconEntry


@pytest.mark.parametrize("phones", ["", "JH IH1 F", "hh ah0 l ow1", "M AY N UW1 T", "NG"])
def test_sounds_of_arpabet_have_no_fault(phones):
    assert arpabet_fault(phones) is None


@pytest.mark.parametrize(
    ("phones", "wrong"), [("JH IX F", "IX"), ("AH3", "AH3"), ("K1 AE T", "K1")]
)
def test_any_other_is_named(phones, wrong):
    assert repr(wrong) in (arpabet_fault(phones) or "")


@pytest.mark.parametrize(
    "syllables",
    ["", "chong2 qing4", "nv3 er2", "lüe4", "zhuang1", "ng2", "xiong2", "huar1", "de", "a5 hm0"],
)
def test_syllables_of_pinyin_have_no_fault(syllables):
    assert pinyin_fault(syllables) is None


@pytest.mark.parametrize("syllables", ["qq4", "hello", "hao6", "你", "x3", "haoo3"])
def test_what_spells_nothing_is_named(syllables):
    assert repr(syllables) in (pinyin_fault(syllables) or "")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("hào", "hao4"),
        ("nǚ ér", "nv3 er2"),
        ("ma", "ma5"),
        ("tian1 qi4", "tian1 qi4"),
        ("Zhōng guó", "zhong1 guo2"),
        ("", ""),
    ],
)
def test_pinyin_with_marks_becomes_tone_digits(written, expected):
    assert numbered(written) == expected


@pytest.mark.parametrize("entry", [{"arpabet": "JH IX F"}, {"pinyin": "qq4"}])
def test_an_entry_of_a_lexicon_has_no_phones_that_are_none(entry):
    with pytest.raises(msgspec.ValidationError, match=r"ARPAbet|pinyin"):
        msgspec.convert({"text": "GIF", **entry}, LexiconEntry)
    assert LexiconEntry(text="GIF", pinyin="jī fú", arpabet="jh ih1 f").text == "GIF"
